package cluster

import (
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mostRemarks bounds what is remembered of remarks. Texts with names in them could be as many as there are objects.
const mostRemarks = 1000

// remarks are the warnings of the API server that have no other place than the log. One text about a kind is a warning
// once; what it says of further objects is for who debugs. It is safe for concurrent use.
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

// again tells whether it was said before.
func (r *remarks) again(said remark) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[said] {
		return true
	}
	if len(r.said) < mostRemarks {
		r.said[said] = true
	}
	return false
}
