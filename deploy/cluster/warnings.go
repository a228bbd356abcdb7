package cluster

import (
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxRemarks bounds the texts that are remembered. There could be as many as objects, if they have names in them.
const maxRemarks = 1000

// remarks logs warnings of the API server that no caller gets. One text about a kind is logged as a warning once, and
// then for debugging only. It is safe for concurrent use.
type remarks struct {
	logger *slog.Logger
	mu     sync.Mutex
	said   map[remark]bool
}

type remark struct {
	kind schema.GroupVersionKind
	text string
}

func newRemarks(logger *slog.Logger) *remarks {
	return &remarks{logger: logger, said: map[remark]bool{}}
}

func (r *remarks) log(ref deploy.Ref, warnings []string) {
	for _, warning := range warnings {
		log := r.logger.Warn
		if r.again(remark{ref.Kind, warning}) {
			log = r.logger.Debug
		}
		log("the API server remarks", "object", ref, "warning", warning)
	}
}

// again reports whether a remark was logged before.
func (r *remarks) again(said remark) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[said] {
		return true
	}
	if len(r.said) < maxRemarks {
		r.said[said] = true
	}
	return false
}
