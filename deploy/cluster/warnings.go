package cluster

import (
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxWarnings bounds the texts that are remembered. If they have names in them, there may be as many as objects.
const maxWarnings = 1000

// warnings logs the warnings of the API server that no caller gets: a text about a kind as a warning the first time,
// and for debugging after that. It is safe for concurrent use.
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

// again reports whether a warning was logged before, and remembers it.
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
