package main

import "github.com/operkit/operkit/tools/hooks/internal/command"

func main() { command.Main() }
