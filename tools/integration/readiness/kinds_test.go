package readiness

import (
	"slices"
	"testing"

	"github.com/operkit/operkit/status/readiness"
)

var (
	// becomes are the states of a kind that waits for its controller, is those of one that is ready by being there.
	becomes = []readiness.State{readiness.InProgress, readiness.Ready}
	is      = []readiness.State{readiness.Ready}
)

var kinds = slices.Concat(workloads, network, storage, cluster, policies, presences)

func TestReady(t *testing.T) {
	t.Parallel()
	for _, s := range kinds {
		t.Run(s.kind+": "+s.reason, func(t *testing.T) {
			t.Parallel()
			s.tell(t)
		})
	}
}
