#!/bin/sh
# Doesn't hear SIGTERM.
trap '' TERM
echo ready
while :; do sleep 0.02; done
