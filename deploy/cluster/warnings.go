package cluster

import (
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxWarnings limits the number of remembered texts. If the texts contain names, there may be one text for each object.
const maxWarnings = 1000

// warnings logs the API server's warnings that aren't returned to a caller. It logs at level Warn if the text is new
// for the kind, and at Debug otherwise. It is safe for concurrent use.
type warnings struct {
	logger *slog.Logger
	mu     sync.Mutex
	logged map[warning]bool
}

type warning struct {
	kind schema.GroupVersionKind
	text string
}

func newWarnings(logger *slog.Logger) *warnings {
	return &warnings{logger: logger, logged: map[warning]bool{}}
}

func (w *warnings) log(ref deploy.Ref, texts []string) {
	for _, text := range texts {
		log := w.logger.Warn
		if w.again(warning{ref.Kind, text}) {
			log = w.logger.Debug
		}
		log("warning of the API server", "object", ref, "warning", text)
	}
}

// again reports whether a warning was logged before, and records it.
func (w *warnings) again(one warning) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.logged[one] {
		return true
	}
	if len(w.logged) < maxWarnings {
		w.logged[one] = true
	}
	return false
}
