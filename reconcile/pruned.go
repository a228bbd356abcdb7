package reconcile

import (
	"slices"
	"sync"
	"time"
)

// pruned remembers which fields of the status the kind's schema drops, at any depth. Writing
// them again with every reconcile would be a call that never changes anything. A schema may be mended: a field that is
// stored somewhere isn't dropped any more, and all of them are sent again once in a while. It is safe for concurrent use.
type pruned struct {
	mu sync.Mutex
	// fields are paths such as ".componentStatus.deployed" or ".conditions[].reason", and until when they aren't sent.
	fields map[string]time.Time
}

// sentAgain is after which time a field is sent again that the schema was found to drop.
const sentAgain = 10 * time.Minute

// prune returns status without the fields that are known to be dropped, which those of stored, the status that is there,
// aren't. It shares with status what it doesn't have to change.
func (p *pruned) prune(now time.Time, status, stored map[string]any) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fields) == 0 {
		return status
	}
	p.forget("", stored)
	return p.without(now, "", status).(map[string]any)
}

// forget takes the fields that are stored for known to the schema.
func (p *pruned) forget(path string, stored any) {
	switch v := stored.(type) {
	case map[string]any:
		for field, item := range v {
			at := path + "." + field
			delete(p.fields, at)
			p.forget(at, item)
		}
	case []any:
		for _, item := range v {
			p.forget(path+"[]", item)
		}
	}
}

func (p *pruned) without(now time.Time, path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for field, item := range v {
			if at := path + "." + field; !now.Before(p.fields[at]) {
				kept[field] = p.without(now, at, item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = p.without(now, path+"[]", item)
		}
		return kept
	}
	return value
}

// learn compares what was sent with what was stored and returns the fields newly found to
// be dropped.
func (p *pruned) learn(now time.Time, sent, stored map[string]any) (missing []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range dropped("", sent, stored) {
		if p.fields == nil {
			p.fields = map[string]time.Time{}
		}
		if _, known := p.fields[path]; !known {
			missing = append(missing, path)
		}
		p.fields[path] = now.Add(sentAgain)
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
