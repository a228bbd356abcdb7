// Command deploy measures the module deploy against what its work costs otherwise: the cluster in memory against
// structured-merge-diff alone, and against itself with ten times as many objects. It prints a line for each goal and
// exits with 1 when one is missed.
package main

import "github.com/operkit/operkit/tools/peers/ratio"

func main() { ratio.Main(pairs(), nil) }
