package reconcile

import (
	"slices"
	"sync"
)

// pruned remembers which fields of the status the kind's schema drops, at any depth. Writing
// them again with every reconcile would be a call that never changes anything. What has been
// found is forgotten with the Reconciler. It is safe for concurrent use.
type pruned struct {
	mu sync.Mutex
	// fields are paths such as ".componentStatus.deployed" or ".conditions[].reason".
	fields map[string]bool
}

// prune returns status without the fields that are known to be dropped. It shares with
// status what it doesn't have to change.
func (p *pruned) prune(status map[string]any) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fields) == 0 {
		return status
	}
	return p.without("", status).(map[string]any)
}

func (p *pruned) without(path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for field, item := range v {
			if at := path + "." + field; !p.fields[at] {
				kept[field] = p.without(at, item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = p.without(path+"[]", item)
		}
		return kept
	}
	return value
}

// learn compares what was sent with what was stored and returns the fields newly found to
// be dropped.
func (p *pruned) learn(sent, stored map[string]any) (missing []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range dropped("", sent, stored) {
		if p.fields[path] {
			continue
		}
		if p.fields == nil {
			p.fields = map[string]bool{}
		}
		p.fields[path] = true
		missing = append(missing, path)
	}
	slices.Sort(missing)
	return missing
}

// dropped returns the paths of the fields that sent has and stored hasn't. Lists of another
// length were changed by somebody and tell nothing.
func dropped(path string, sent, stored any) (paths []string) {
	switch s := sent.(type) {
	case map[string]any:
		have, ok := stored.(map[string]any)
		if !ok {
			return nil
		}
		for field, value := range s {
			at := path + "." + field
			if there, found := have[field]; found {
				paths = append(paths, dropped(at, value, there)...)
			} else if value != nil {
				paths = append(paths, at)
			}
		}
	case []any:
		have, ok := stored.([]any)
		if !ok || len(have) != len(s) {
			return nil
		}
		for i, value := range s {
			paths = append(paths, dropped(path+"[]", value, have[i])...)
		}
	}
	return paths
}
