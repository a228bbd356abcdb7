package main

import "github.com/operkit/operkit/tools/peers/ratio"

func main() { ratio.Main(pairs(), nil) }
