"""Blocks of other vendors' chips that serve all of the chip, by the names of their headers.

Clocks, power, resets, pins, flash and watchdogs: whoever writes them does it to every machine. The
names of STM32's are in `chip_blocks`, where rules know what to make of them; these are told.
"""

from __future__ import annotations

import re

_RASPBERRY = (
    r"CLOCKS|RESETS|WATCHDOG|IO_BANK0|IO_QSPI|PADS_BANK0|PADS_QSPI|SIO|XOSC|ROSC|PLL_SYS|PLL_USB|PSM"
    r"|VREG_AND_CHIP_RESET|XIP_CTRL|XIP_SSI|BUSCTRL|XIP_QMI|QMI|XIP_AUX|POWMAN|ACCESSCTRL|OTP"
)
# One line a family of headers.
_NAMES = (
    # NXP LPC
    r"LPC_(?:SC|SYSCON|SYSCTL|PINCON|PINCONNECT|IOCON\w*?|GPIO\w*?|FIO\w*?|GPIOINT|WDT|WWDT|CGU|CCU\d?|RGU"
    r"|PMU|SCU|CREG|FMC|FLASHCTRL|SWM|INMUX|PINT|EEPROM|OTP|EMC|SPIFI)|SYSCON|IOCON|ANACTRL|PMU|SWM0?|INPUTMUX"
    r"|WWDT\d?|SECPINT|PINT|AHB_SECURE_CTRL|PRINCE",
    # NXP Kinetis, S32K, i.MX RT
    r"SIM|MCG|MCG_LITE|OSC\d?|PORT[A-F]|FGPIO[A-F]|PT[A-F]|WDOG\d?|SMC|PMC|RCM|LLWU|FTF[ACEL]|FTMRE"
    r"|FTMRH|FMC|ICS|PCC\d?|SCG\d?|RFVBAT|RFSYS|EWM|IOMUXC\w*?|CCM\w*?|SRC|GPC|PGC|DCDC|RTWDOG\d?|SNVS"
    r"|FLEXSPI\d?|GPIO\d\d?|MCM\d?|AXBS\d?|AIPS\w*?|SYSMPU|MPU|XRDC\w*?|ANADIG\w*?|OCOTP|XTALOSC24M|SEMC"
    r"|CSU|OTFAD\d?|BEE|CMC|SPC\d?|WUU\d?|MRCC\d?|FMU\d?|MC_(?:CGM|ME|RGM)|SIUL2|DCM|PFLASH|PRAMC\w*?|FIRC|SIRC"
    r"|FXOSC|SXOSC|SWT_\d",
    # Nordic
    r"NRF_(?:CLOCK|POWER|P\d|GPIO|WDT\d?|NVMC|RESET|REGULATORS|GPIOTE\d?|PPI|DPPIC|VMC|OSCILLATORS"
    r"|CACHE|UICR|MPU|ACL|BPROT|SPU\w*?|KMU|MPC\d*|RRAMC|MUTEX|USBREGULATOR|TAMPC)(?:_NS|_S)?",
    # Microchip SAM
    r"PMC|WDT|WDT\d|RSWDT|EFC\d?|PIO[A-G]|RSTC|SUPC|MATRIX|PM|SYSCTRL|GCLK|PORT|PORT_IOBUS|NVMCTRL"
    r"|OSCCTRL|OSC32KCTRL|MCLK|EIC|PAC\d?|SCIF|BPM|BSCIF|GPIO|FLASHCALW|HFLASHC|PICOUART|CMCC|S?BMATRIX"
    r"|HMATRIX\w*?|MATRIX\d|DSU|IDAU|TRAM|UTMI|SDRAMC",
    # TI Tiva and MSP432, CC13xx
    r"SYSCTL|SYSCTL_A|SYSCTL_Boot|GPIO_PORT[A-T](?:_AHB)?|GPIO[A-T]_AHB|WATCHDOG\d|WDT_A|FLASH_CTRL|CS|PCM"
    r"|FLCTL|FLCTL_A|RSTCTL|PMAP|PSS|PRCM|AON_\w+?|AUX_WUC|AUX_SYSIF|IOC|HIB|SYSEXC|FLASHCTL"
    r"|DDI\d?_\w+?|ADI\d?_\w+?|VIMS",
    # Silicon Labs
    r"(?:CMU|EMU|GPIO|MSC|RMU|WDOG\d?|HFXO\d?|HFRCO\w*?|LFXO|LFRCO|FSRCO|ULFRCO|DPLL\d|SYSCFG|DCDC|SMU|PRS"
    r"|ICACHE\d)(?:_NS|_S)?",
    # Infineon XMC and PSoC
    r"SCU_\w+?|PORT\d\d?|FLASH\d|NVM|PAU|PREF|PMU\d|PBA\d|ERU\d|SRSS|SRSSLT|PERI|PERI_MS\w*?|HSIOM|GPIO_PRT\d"
    r"|CPUSS|FLASHC|SPCIF|BACKUP|PROT|EFUSE\w*?|MCWDT\w*?|SMIF\d?",
    rf"(?:{_RASPBERRY}|SYSCFG)(?:_HW)?",
    # GigaDevice, Artery, WCH, HDSC
    r"RCU|FMC|PMU|FWDGT|WWDGT|CRM|PWC|IOMUX|WDT|SCFG|EXINT|EXTEN|DEBUGMCU|TZPCU"
    r"|M4_(?:SYSREG|PORT|EFM|WDT|SWDT|MSTP|MPU|SRAMC|INTC|PWC|CMU|RMU|ICG)"
    r"|CM_(?:CMU|PWC|GPIO|EFM|WDT|SWDT|RMU|SRAMC|MPU|DMPU|INTC|ICG)",
    # Renesas
    r"R_(?:SYSTEM|PFS|PMISC|PORT\d\d?|WDT|IWDT|FACI\w*?|FCACHE|MSTP|CPSCU|CACHE|ICU|BUS|RMPU|MPU_\w+?|TZF"
    r"|PSCU|FLAD|SRAM|QSPI)|SYSTEM|MSTP",
    # Nuvoton, Ambiq, Holtek
    r"CLK|SYS|P[A-H]|WWDT|FMC|GCR|CLKGEN|PWRCTRL|MCUCTRL|RSTGEN|CACHECTRL|CKCU|PWRCU|RSTCU|HT_\w+?",
    # ST: names beside those of `chip_blocks`
    r"DBGMCU|DBG|PWRC|HSEM\d?|GTZC\w*?|RAMCFG|RAMECC\w*?|ICACHE|DCACHE\d?|TAMP|SBS|OTFDEC\d"
    r"|OCTOSPIM|XSPIM|IPCC|RIFSC|RISAF\w*?|BSEC|TZC\w*?",
)  # fmt: skip
_ANY = "|".join(_NAMES)
ATOMIC = re.compile(rf"(?:{_RASPBERRY})(?:_HW)?".encode(), re.ASCII)
"""Blocks with aliases behind them that invert, set and clear (RP2040 datasheet, 2.1.2)."""
_AT = r"_BASE(?:_PTR|_ADDR\w*)?|_PTR|_ADDR(?:ESS)?|_ADR"
BLOCK = re.compile(rf"(?P<block>{_ANY})(?:{_AT})?".encode(), re.ASCII)
"""The name of such a block, or of its address."""
# Pins and what is short are in names of anything: LED_PORT_BASE, SPI_CS_ADDR.
PREFIXED = re.compile(
    rf"(?P<stem>[A-Z][A-Z\d]{{1,4}}_(?!F?GPIO|PORT|P[A-HT]|CS_|CLK_|SYS_)(?P<block>RCC|AFIO|EXTI|{_ANY}))"
    rf"(?:{_AT})".encode(),
    re.ASCII,
)
"""The same of an address behind somebody's own prefix, of which a type may have the name."""

# What a block serves by the words for it, whoever's the chip is: M0P_CLOCK, CW_SYSCTRL, MXC_GCR.
_ROLES = (
    r"CLOCK|CLK\w*|CG|CGU|CKCU|CMU|CRG|RCC|RCU|GCR|SYS\d?|SYSCTRL|SYSCTL|SYSCON|SYSCFG|SYSREG"
    r"|(?:RST|RESET)\w*|PWR\w*|POWER|PMU|PMC|PWC|[IHSW]*W?DT\d?|[IHSW]*WDG\d?|[HS]WWDT|WD|WDOG\d?"
    r"|GPIO\w?\d?|PORT\w?|P[A-Z]|GP\d|IOCON|IOMUX|PINMUX|PAD\w*|FLASH\w*|FLC\d?|EEPROM|NVM\w*|EFC|FMC"
)
ROLED = re.compile(rf"[A-Za-z][A-Za-z\d]{{1,4}}_(?:{_ROLES})".encode(), re.ASCII)
"""The name of a block behind a vendor's prefix, where it is a struct's at a device's address."""

# As NXP's own headers named them before there were structs (UM10360, UM10211, UM10139).
_LPC = (
    r"PCON|PCONP\d?|PCLKSEL\d|VPBDIV|APBDIV|PLL\d?(?:CON|CFG|STAT|FEED)|CCLKCFG|USBCLKCFG|CLKSRCSEL|IRCTRIM"
    r"|CLKOUTCFG|SCS|RSID|RSIR|FLASHCFG|MEMMAP|MAM(?:CR|TIM)|EXT(?:INT|MODE|POLAR)|INTWAKE|PINSEL\d+"
    r"|PINMODE(?:_OD)?\d+|I2CPADCFG|WD(?:MOD|TC|FEED|TV|CLKSEL)"
)
# TI's of the flash controller (TM4C123GH6PM data sheet, table 8-2).
_TI_FLASH = r"FLASH_(?:FM[ACDP]\w*|FC(?:RIS|IM|MISC)|FWB\w*|RMCTL|BOOTCFG|USERREG\d|FSIZE|CONF)_R"
REGISTER = re.compile(rf"(?:{_ANY}|SCB)_\w+|{_LPC}|{_TI_FLASH}".encode(), re.ASCII)
"""A register of such a block under a name of its own, where that stands for a device's register."""
# WCH and GigaDevice have blocks of ST's names beside cores of RISC-V, where no rule knows them.
ST_REGISTER = re.compile(
    rb"(?:R(?:8|16|32)_)?(?:RCC|PWR|FLASH|EXTI|AFIO|IWDG|WWDG|GPIO[A-I])_\w+", re.ASCII
)
"""Another register under a name of its own, on another core than Arm's."""
PLAIN = re.compile(
    rb"GPIO[A-K]?_(?:CR[LH]|MODER|OTYPER|OSPEEDR|PUPDR|IDR|ODR|BSRR[LH]?|BRR|LCKR|AFR[LH])"
    rb"|RCC_(?:CR|CFGR[23]?|CI[ER]R?|PLLCFGR|BDCR|CSR|A[HP]B\d?(?:ENR|RSTR)\d?)"
    rb"|FLASH_(?:ACR|KEYR|OPTKEYR|SR|CR|AR|OPTCR)|PWR_(?:CR[1-4]?|CSR[12]?)"
    rb"|IWDG_(?:KR|PR|RLR|SR|WINR)|WWDG_(?:CR|CFR|SR)|EXTI_(?:IMR|EMR|RTSR|FTSR|SWIER|PR)\d?"
    rb"|SYSCFG_(?:EXTICR\d?|MEMRMP|CFGR\d)|AFIO_(?:MAPR2?|EXTICR\d?|EVCR)|DBGMCU_(?:CR|IDCODE)"
    rb"|SCB_(?:ICSR|VTOR|AIRCR|SCR|CCR|SHPR\d?|SHCSR|CFSR|HFSR|DFSR|MMFAR|BFAR|CPACR)"
    rb"|(?:STK|SYST)_(?:CSR|RVR|CVR|CTRL|LOAD|VAL)|NVIC_(?:ISER|ICER|ISPR|ICPR|IABR|IPR)\d*"
    rb"|DWT_(?:CTRL|CYCCNT)|(?:NVIC|SYSCTL|GPIO|WATCHDOG\d|FLASH)_\w+_R",
    re.ASCII,
)
"""Registers by the names that libopencm3, TI and old headers of ST give them: lvalues."""
ADDRESS = re.compile(rb"(?:SYSCTL|GPIO_PORT[A-T](?:_AHB)?|WATCHDOG\d|FLASH_CTRL|RCU|PMC|WDT)_\w+")
"""The same where it stands for the address alone."""
_DEVICES = range(0x4000_0000, 0x6000_0000)  # where Arm's memory map has the chip's peripherals
_EXTERNAL = range(0xA000_0000, 0xE000_0000)
_FLAGS = frozenset({0x4000_0000, 0x4800_0000, 0x5000_0000})  # which begin blocks, too


def is_device(address: int) -> bool:
    """Whether an address is that of a peripheral, such as a memory controller."""
    return address in _DEVICES or address in _EXTERNAL


def may_be_device(number: int) -> bool:
    """Whether a number that nothing makes a pointer looks like such an address and no flag."""
    return number in _DEVICES and number not in _FLAGS
