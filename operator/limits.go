package operator

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
)

// limits are how much the operator asks of the API server. Zero leaves it with package cluster.
type limits struct {
	qps   float32
	burst int
}

func (l *limits) flags(command *cobra.Command) {
	set := command.Flags()
	set.Float32Var(&l.qps, "kube-api-qps", 0, "how many requests a second the API server is asked at most, in the long run (default 200)")
	set.IntVar(&l.burst, "kube-api-burst", 0, "how many may come at once (default: twice the queries per second)")
}

// limitFlags are the names of the flags above.
var limitFlags = []string{"kube-api-qps", "kube-api-burst"}

func (l *limits) check(given func(flag string) bool) error {
	switch {
	case given("kube-api-qps") && !(l.qps > 0):
		return usage("--kube-api-qps %v: it must be more than 0", l.qps)
	case given("kube-api-burst") && l.burst < 1:
		return usage("--kube-api-burst %d: at least 1 is needed", l.burst)
	case l.burst > 0 && l.qps == 0:
		return usage("--kube-api-burst goes with --kube-api-qps")
	}
	if l.qps > 0 && l.burst == 0 {
		l.burst = max(1, int(2*l.qps))
	}
	return nil
}

// set has clients of config keep the limits.
func (l *limits) set(config *rest.Config) {
	config.QPS, config.Burst = l.qps, l.burst
}
