package usercases

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
)

// losses are the objects that were deleted and not made anew, and claims that aren't those from before. It is safe for
// concurrent use.
type losses struct {
	mu    sync.Mutex
	found []string
}

// count adds what a scene has lost since its last step began. It is called when the case has ended.
func (l *losses) count(ctx context.Context, s *scene) {
	for ref, uid := range s.before {
		obj, err := s.port.Get(ctx, ref)
		switch {
		case err != nil:
			l.add("%v", err)
		case obj == nil:
			l.add("%s isn't there", ref)
		case obj.GetDeletionTimestamp() != nil:
			l.add("%s is being deleted", ref)
		case deploy.Protected(ref.Kind.GroupKind()) && obj.GetUID() != uid:
			l.add("%s is another one", ref)
		}
	}
}

func (l *losses) add(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, fmt.Sprintf(format, arguments...))
}

// all are the losses of all cases, ascending.
func (l *losses) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.found))
}
