package standing

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAfter(t *testing.T) {
	t.Parallel()
	there, deleted := &metav1.ObjectMeta{}, &metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}
	failure := errors.New("no")
	for _, row := range []struct {
		reason   string
		resource metav1.Object
		complete bool
		err      error
		want     Standing
	}{
		{"nothing is left to do", there, true, nil, Settled},
		{"something isn't ready yet", there, false, nil, Waiting},
		{"it waits for something before that", there, true, request.Precondition("no"), Waiting},
		{"it is retried", there, true, failure, Failing},
		{"it isn't retried", there, true, request.Permanent(failure), Refused},
		{"whatever is done, it isn't settled before it is gone", deleted, true, nil, Deleting},
		{"a deletion that waits hasn't failed", deleted, false, request.Precondition("no"), Deleting},
		{"a deletion that fails", deleted, false, failure, Failing},
		{"a deletion that isn't retried", deleted, false, request.Permanent(failure), Refused},
	} {
		assert.Equal(t, row.want, After(row.resource, row.complete, row.err), row.reason)
	}
}

type counting struct{}

func (counting) Tally() Tally { return Tally{Contested: 1} }

type mistaken struct{}

func (mistaken) Tally() int { return 1 }

func TestOf(t *testing.T) {
	t.Parallel()
	provider, err := Of(counting{})
	require.NoError(t, err)
	assert.Equal(t, Tally{Contested: 1}, provider.Tally())
	provider, err = Of(t)
	require.NoError(t, err)
	assert.Nil(t, provider)
	_, err = Of(mistaken{})
	require.EqualError(t, err, "standing.mistaken: its method Tally is () int: make it () standing.Tally")
}

func TestBook(t *testing.T) {
	t.Parallel()
	var b Book
	hall, kitchen := deploy.Ref{Name: "hall"}, deploy.Ref{Name: "kitchen"}
	assert.Empty(t, b.Tally())
	b.Forget(hall)
	b.Set(hall, Settled)
	b.Set(hall, Settled)
	b.Set(kitchen, Waiting)
	assert.Equal(t, map[Standing]int{Settled: 1, Waiting: 1}, b.Tally().Resources, "once, however often")
	b.Set(hall, Waiting)
	b.Tally().Resources[Waiting] = 7
	assert.Equal(t, map[Standing]int{Waiting: 2}, b.Tally().Resources, "what was handed out is the caller's")
	b.Forget(hall)
	b.Forget(kitchen)
	assert.Empty(t, b.Tally().Resources)
	assert.Empty(t, b.known)
}
