/* rtl_bench.cpp -- runs a program of bncc's meter on the RTL of a core, translated by verilator.
 *
 *     rtl_bench IMAGE REQUEST REPLY DOORBELL ADDRESS
 *
 * IMAGE has records of an address, a number of bytes, and the bytes; ADDRESS is that of
 * bncc_request. The memory answers in the shortest time that the core's interface allows. The
 * doorbell is that of port_doorbell.h: input from REQUEST, output to REPLY. Each request for the
 * counter prints the cycle in which the store to the doorbell happens. */
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "Vcore.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint64_t LIMIT = 2000000000ULL;
constexpr uint32_t REGION = 24; /* Bits of an address within a region of memory */

std::vector<char> content(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path);
        std::exit(1);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

class Memory {
public:
    explicit Memory(const std::vector<char> &image)
    {
        size_t at = 0;
        while (at + 8 <= image.size()) {
            const uint32_t address = number(image, at);
            const uint32_t size = number(image, at + 4);
            for (uint32_t k = 0; k < size; k++) {
                byte(address + k) = static_cast<uint8_t>(image.at(at + 8 + k));
            }
            at += 8 + size;
        }
    }

    uint8_t &byte(uint32_t address)
    {
        std::vector<uint8_t> &region = regions_[address >> REGION];
        if (region.empty()) {
            region.resize(1U << REGION);
        }
        return region[address & ((1U << REGION) - 1)];
    }

    uint32_t word(uint32_t address)
    {
        const uint8_t *bytes = &byte(address & ~3U);
        uint32_t value = 0;
        for (uint32_t k = 0; k < 4; k++) {
            value |= static_cast<uint32_t>(bytes[k]) << (8 * k);
        }
        return value;
    }

    void store(uint32_t address, uint32_t value, unsigned lanes)
    {
        for (uint32_t k = 0; k < 4; k++) {
            if (lanes >> k & 1U) {
                byte((address & ~3U) + k) = static_cast<uint8_t>(value >> (8 * k));
            }
        }
    }

private:
    static uint32_t number(const std::vector<char> &data, size_t at)
    {
        uint32_t value = 0;
        for (size_t k = 0; k < 4; k++) {
            value |= static_cast<uint32_t>(static_cast<uint8_t>(data.at(at + k))) << (8 * k);
        }
        return value;
    }

    std::array<std::vector<uint8_t>, 1U << (32 - REGION)> regions_;
};

class Doorbell {
public:
    Doorbell(Memory &memory, char **arguments)
        : memory_(memory), input_(content(arguments[0])), output_(arguments[1], std::ios::binary),
          place_(static_cast<uint32_t>(std::stoul(arguments[2], nullptr, 0))),
          request_(static_cast<uint32_t>(std::stoul(arguments[3], nullptr, 0)))
    {
    }

    /* A store of the core in a cycle. */
    void store(uint32_t address, uint32_t value, unsigned lanes, uint64_t cycle)
    {
        if ((address & ~3U) != place_) {
            memory_.store(address, value, lanes);
            return;
        }
        const uint32_t where = memory_.word(request_);
        const uint32_t size = memory_.word(request_ + 4);
        uint32_t n = 0;
        switch (value & 0xFFU) {
        case 'r':
            for (; n < size && read_ < input_.size(); n++) {
                memory_.byte(where + n) = static_cast<uint8_t>(input_[read_++]);
            }
            memory_.store(request_ + 8, n, 0xFU);
            break;
        case 'w':
            for (; n < size; n++) {
                output_.put(static_cast<char>(memory_.byte(where + n)));
            }
            break;
        case 't':
            std::printf("%llu\n", static_cast<unsigned long long>(cycle));
            memory_.store(request_ + 8, static_cast<uint32_t>(cycle), 0xFU);
            break;
        default:
            status = size == 0 ? 0 : 1;
            is_done = true;
        }
    }

    bool is_done = false;
    int status = 1;

private:
    Memory &memory_;
    std::vector<char> input_;
    std::ofstream output_;
    uint32_t place_;
    uint32_t request_;
    size_t read_ = 0;
};

#if defined(CORE_PICORV32)
/* The memory answers in the cycle of the request. */
class Core {
public:
    Core(Memory &memory, Doorbell &bell) : memory_(memory), bell_(bell)
    {
        top_.mem_ready = 1;
    }

    void reset(bool is_on) { top_.resetn = !is_on; }

    bool step(uint64_t cycle)
    {
        top_.clk = 0;
        top_.eval();
        if (top_.mem_valid && top_.mem_wstrb != 0) {
            bell_.store(top_.mem_addr, top_.mem_wdata, top_.mem_wstrb, cycle);
        } else if (top_.mem_valid) {
            top_.mem_rdata = memory_.word(top_.mem_addr);
        }
        top_.eval();
        top_.clk = 1;
        top_.eval();
        return !top_.trap;
    }

private:
    Vcore top_;
    Memory &memory_;
    Doorbell &bell_;
};
#elif defined(CORE_IBEX)
/* Two memories grant a request at once and answer in the next cycle. */
class Core {
public:
    Core(Memory &memory, Doorbell &bell) : memory_(memory), bell_(bell)
    {
        top_.fetch_enable_i = 5; /* IbexMuBiOn */
        top_.scan_rst_ni = 1;
        top_.instr_gnt_i = 1;
        top_.data_gnt_i = 1;
    }

    void reset(bool is_on) { top_.rst_ni = !is_on; }

    bool step(uint64_t cycle)
    {
        top_.clk_i = 0;
        top_.eval();
        const bool is_fetch = top_.instr_req_o;
        const bool is_access = top_.data_req_o;
        uint32_t fetched = 0;
        uint32_t loaded = 0;
        if (is_fetch) {
            fetched = memory_.word(top_.instr_addr_o);
        }
        if (is_access && top_.data_we_o) {
            bell_.store(top_.data_addr_o, top_.data_wdata_o, top_.data_be_o, cycle);
        } else if (is_access) {
            loaded = memory_.word(top_.data_addr_o);
        }
        top_.clk_i = 1;
        top_.eval();
        top_.instr_rvalid_i = is_fetch;
        top_.instr_rdata_i = fetched;
        top_.data_rvalid_i = is_access;
        top_.data_rdata_i = loaded;
        return !top_.double_fault_seen_o;
    }

private:
    Vcore top_;
    Memory &memory_;
    Doorbell &bell_;
};
#else
#error "rtl_bench.cpp: which core is this?"
#endif

} // namespace

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "rtl_bench IMAGE REQUEST REPLY DOORBELL ADDRESS\n");
        return 2;
    }
    Memory memory(content(argv[1]));
    Doorbell bell(memory, argv + 2);
    Core core(memory, bell);
    for (uint64_t cycle = 0; cycle < LIMIT && !bell.is_done; cycle++) {
        core.reset(cycle < 8);
        if (!core.step(cycle) && cycle >= 8) {
            std::fprintf(stderr, "the core met a fault\n");
            return 1;
        }
    }
    return bell.status;
}
