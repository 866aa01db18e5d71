"""Set-up of a checkout: system packages, virtual environment, FreeRTOS kernel.

Runs before the virtual environment exists (`python3 -m composer.setup`), so everything here, and
everything it imports, is the standard library alone. `fvmkit doctor` shares the list of tools.
"""
