package plane

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/operkit/operkit/tools/envtest/audit"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var marks atomic.Int64

// Mark returns the present position in the audit log: all requests that were answered until now are before it.
func (p *Plane) Mark(ctx context.Context) (audit.Position, error) {
	from, err := p.log.End()
	if err != nil {
		return audit.Position{}, err
	}
	name := "bench-mark-" + strconv.FormatInt(marks.Add(1), 10)
	_, err = p.client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return audit.Position{}, fmt.Errorf("marker in the audit log: %w", err)
	}
	return p.log.Await(ctx, from, name)
}

// Tail reads the requests of one user from a position of the audit log on.
type Tail struct {
	plane *Plane
	user  string
	at    audit.Position
}

// Follow returns a Tail for the requests of an operator's user from now on.
func (p *Plane) Follow(ctx context.Context, operator string) (*Tail, error) {
	at, err := p.Mark(ctx)
	return &Tail{plane: p, user: User(operator), at: at}, err
}

// Next returns the requests that were answered since the last Next, each once.
func (t *Tail) Next(ctx context.Context) (audit.Calls, error) {
	end, err := t.plane.Mark(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := t.plane.log.Calls(t.at, end, audit.Match{Users: []string{t.user}})
	t.at = end
	return calls, err
}
