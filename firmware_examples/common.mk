# What all examples share. An example's Makefile says
#
#   NAME    the model: NAME.bncc, and the prefix in C
#   BOARD   a folder of boards/
#   N_ROWS  how many labeled rows go into the image; or, for a model that takes samples,
#   N_RECORDINGS and LENGTH, how many labeled recordings, and at most how many samples of each
#   EMIT    options of `bncc emit-c`
#   TRAIN   options of `bncc train`, for `make model`
#   PREDICT options of `bncc predict`, which answers for Python
#
# and may name further SOURCES. `make BNCC=/absolute/path/to/bncc` where bncc is not on the PATH, `make V=1`
# to see every command.

BNCC ?= bncc
PYTHON ?= python3
# A path as it is, spaces and all; else words for the shell, as in "python3 -m bncc".
RUN_BNCC := $(if $(shell test -x "$(BNCC)" && echo yes),"$(BNCC)",$(BNCC))
EXAMPLES := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

TRAINING_ROWS ?= data/train.csv.gz
TEST_ROWS ?= data/test.csv.gz
# What the sensor delivers; other rows than TEST_ROWS where the board changes them first.
READINGS ?= $(TEST_ROWS)
# What goes into the image, and the script that writes it as C.
INPUTS := $(if $(N_RECORDINGS),recordings,rows)
RECORDED := $(if $(N_RECORDINGS),--recording recording)
LABELED_ROWS ?= $(or $(TEST_ROWS),$(TRAINING_ROWS))

# 1: with the simulator's ways to end a program and to count. 0: for a board on the table.
SIMULATED ?= 1
# 0: without the self-test of the model, where every byte counts.
SELFTEST ?= 1
OUT := build/$(if $(filter 1,$(SIMULATED)),simulated,hardware)$(if $(filter 0,$(SELFTEST)),-alone)
# The most seconds that a simulated run may take.
LIMIT ?= 60

include $(EXAMPLES)/boards/$(BOARD)/board.mk

Q := $(if $(V),,@)
# One sentence says what is missing, instead of what the shell would.
need = @command -v $(firstword $(1)) > /dev/null || \
    { echo "$(strip $(1)) is not installed; $(2)" >&2; exit 2; }
NEED_BNCC = @set -- $(RUN_BNCC); command -v "$$1" > /dev/null || { \
    echo "$$1 is not installed; name it with 'make BNCC=/absolute/path/to/bncc'" >&2; exit 2; }
NEED_TOOL = $(call need,$(1),apt install $(PACKAGES))

MODEL := $(OUT)/model/$(NAME)
CFLAGS := -std=c99 -Os $(MACHINE) -DSIMULATED=$(SIMULATED) -DSELFTEST=$(SELFTEST) \
    -D$(shell echo $(NAME) | tr a-z A-Z)_SELFTEST_NO_MAIN \
    -I. -I$(OUT) -I$(OUT)/model -I$(EXAMPLES)/common $(BOARD_INCLUDES) \
    -ffreestanding -ffunction-sections -fdata-sections -Wall -Wextra -Wconversion -Wshadow -Wundef -Werror
# Programs are optimized as a whole, but for what is measured: calls then stay where the program
# counts what they take.
WHOLE_PROGRAM := -flto
SOURCES += main.c $(wildcard $(EXAMPLES)/common/*.c) \
    $(addprefix $(EXAMPLES)/boards/,$(BOARD_SOURCES)) $(MODEL).c $(MODEL)_selftest.c
OBJECTS := $(addprefix $(OUT)/,$(addsuffix .o,$(basename $(notdir $(SOURCES)))))
VPATH := $(sort $(dir $(SOURCES)))
IMAGE := $(OUT)/$(NAME)

.PHONY: all run flash size model clean
.DELETE_ON_ERROR:

all: $(IMAGE).hex size

# One run of bncc writes all files of the model.
$(MODEL).c: $(NAME).bncc
	$(NEED_BNCC)
	@mkdir -p $(OUT)
	$(Q)$(RUN_BNCC) emit-c $< -o $(OUT)/model --name $(NAME) --target $(TARGET) $(EMIT) --force --quiet \
	    > /dev/null

$(addprefix $(MODEL),.h _vectors.h _selftest.c): $(MODEL).c

$(IMAGE)_$(INPUTS).h: $(NAME).bncc $(LABELED_ROWS) $(READINGS) Makefile \
    $(sort $(EXAMPLES)/rows.py $(EXAMPLES)/$(INPUTS).py)
	$(NEED_BNCC)
	@mkdir -p $(OUT)
	$(Q)$(RUN_BNCC) inspect $< --json > $(OUT)/model.json
	$(Q)$(RUN_BNCC) predict $< $(LABELED_ROWS) $(RECORDED) $(PREDICT) -o $(OUT)/answers.csv --force --quiet > /dev/null
	$(Q)'$(PYTHON)' $(EXAMPLES)/$(INPUTS).py $(NAME) $(N_ROWS) $(N_RECORDINGS) $(LENGTH) $(READINGS) \
	    $(OUT)/model.json $(OUT)/answers.csv -o $@

$(OBJECTS): Makefile $(EXAMPLES)/common.mk \
    $(wildcard *.h $(EXAMPLES)/common/*.h $(EXAMPLES)/boards/*.h $(EXAMPLES)/boards/*/*.h)
$(OUT)/main.o: $(MODEL).h $(MODEL)_vectors.h $(IMAGE)_$(INPUTS).h
$(OUT)/$(NAME)_selftest.o: $(MODEL)_vectors.h
$(OUT)/$(NAME).o: WHOLE_PROGRAM :=

$(OUT)/%.o: %.c
	$(call NEED_TOOL,$(CROSS)gcc)
	@mkdir -p $(OUT)
	$(Q)$(CROSS)gcc $(CFLAGS) $(WHOLE_PROGRAM) -c $< -o $@

$(OUT)/%.o: %.S
	$(call NEED_TOOL,$(CROSS)gcc)
	@mkdir -p $(OUT)
	$(Q)$(CROSS)gcc $(MACHINE) -c $< -o $@

$(IMAGE).elf: $(OBJECTS) $(wildcard $(EXAMPLES)/boards/*.ld $(EXAMPLES)/boards/$(BOARD)/*.ld)
	$(Q)$(CROSS)gcc -Os $(MACHINE) $(WHOLE_PROGRAM) -nostdlib $(LINK) -Wl,--gc-sections $(OBJECTS) \
	    -lgcc -o $@

$(IMAGE).hex: $(IMAGE).elf
	$(Q)$(CROSS)objcopy -O ihex $< $@

# All of the program: the model, the vectors, the rows, the text, the start-up code.
size: $(IMAGE).elf
	@$(CROSS)size $< | awk 'NR == 2 { \
	    print "flash: " $$1 + $$2 " bytes, RAM: " $$2 + $$3 " bytes and the stack" }'

# A run passes if the simulator ends well and in time, and the last line says so.
run: $(IMAGE).elf size
	$(call NEED_TOOL,$(SIMULATOR))
	@timeout $(LIMIT) $(call SIMULATE,$<) < /dev/null > $(OUT)/said.txt 2>&1; status=$$?; \
	    $(CLEAN_TEXT) < $(OUT)/said.txt > $(OUT)/run.txt; cat $(OUT)/run.txt; \
	    if [ $$status -ne 0 ]; then echo "$(NAME): $(SIMULATOR) ended with $$status" >&2; exit 1; fi; \
	    tail -n 1 $(OUT)/run.txt | grep -qx PASS || { echo "$(NAME): the run failed" >&2; exit 1; }

flash:
ifdef FLASH
	$(call need,$(FLASH_TOOL),apt install $(FLASH_TOOL))
	$(MAKE) --no-print-directory all SIMULATED=0
	$(call FLASH,build/hardware/$(NAME).hex)
else
	@echo "$(BOARD) is a simulated board only; there is nothing to flash" >&2; exit 2
endif

# The same rows and options give the same bytes.
model: $(TRAINING_ROWS) $(TEST_ROWS)
	$(NEED_BNCC)
	$(RUN_BNCC) train $(TRAINING_ROWS) $(addprefix --test ,$(TEST_ROWS)) $(RECORDED) $(TRAIN) --seed 0 \
	    -o $(NAME).bncc --force

clean:
	rm -rf build
