#!/bin/sh
# Fails on SIGTERM.
trap 'exit 3' TERM
echo ready
while :; do sleep 0.02; done
