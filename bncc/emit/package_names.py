"""Names that build systems keep for themselves."""

_CMAKE = """
    all all_build clean depend edit_cache help install list_install_components package
    package_source preinstall rebuild_cache run_tests test zero_check"""
_ZEPHYR = """
    adc arc arm arm64 assert audio auxdisplay bbram bt can cache charger console counter cpp crypto
    dac debug disk_access display dma edac eeprom emul entropy errno espi ethernet events fcb flash
    fpu fuel_gauge gnss gpio haptics heap hwinfo hwspinlock i2c i2s i3c input ipm kscan led
    led_strip llext log lora mbox mdio mips mm_drv modbus modem mspi multithreading net nvs ocpp
    peci pinctrl pm poll posix printk ps2 pwm regulator reset retention riscv rtc rtio sdhc sensing
    sensor serial settings shell smbus smf smp sparc spi stepper syscon task_wdt tee test
    timing_functions tracing userspace video w1 watchdog wifi x86 xtensa zbus ztest"""

CMAKE_TARGETS = frozenset(_CMAKE.split())
"""Targets that CMake's generators make."""

ZEPHYR_SYMBOLS = frozenset(_ZEPHYR.split())
"""Kconfig symbols of Zephyr's drivers, subsystems and architectures that a model may be called."""


def kconfig_symbol(model: str) -> str:
    """Return the Kconfig symbol that switches a model on in Zephyr."""
    return f"{model}_model".upper() if model.lower() in ZEPHYR_SYMBOLS else model.upper()
