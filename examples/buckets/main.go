// Command buckets is an operator of watchers, as operators written with Grafana's app SDK are: it tends buckets in a
// cloud outside of the cluster.
package main

import (
	"log/slog"
	"os"

	"github.com/operkit/operkit/operator"
)

func main() {
	c := &client{}
	op := operator.New("buckets", operator.Flags(c.flags))
	op.Drive(Buckets(c, slog.New(slog.NewJSONHandler(os.Stdout, nil))))
	op.Main()
}
