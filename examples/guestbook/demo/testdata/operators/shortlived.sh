#!/bin/sh
# Ends by itself.
i=1
while [ $i -le 30 ]; do echo "line $i"; i=$((i + 1)); done
exit 4
