// Command status measures the module status against what people use in its place: the helpers of apimachinery for
// conditions, its converter between typed and unstructured objects with the checks of kubectl rollout status, and its
// semantic comparison. It prints a line for each goal and exits with 1 when one is missed.
package main

import "github.com/operkit/operkit/tools/peers/ratio"

func main() { ratio.Main(pairs(), counts()) }
