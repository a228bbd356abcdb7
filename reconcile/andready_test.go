package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAndReadyWhen(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		// ready: the Deployment is ready by the usual rules.
		ready bool
		// judges are the errors of judges that are added by AndReadyWhen, alone that of ReadyWhen.
		judges []error
		alone  error
		// called is the number of judges that are called; want a part of the message, empty if the resource is ready.
		called int
		want   string
	}{
		{reason: "status 17: the usual rules wait: no judge is called", judges: []error{nil}, want: "Deployment d: InProgress"},
		{reason: "status 17: both are content", ready: true, judges: []error{nil}, called: 1},
		{reason: "status 17: the judge waits", ready: true, judges: []error{request.Precondition("no leader")}, called: 1, want: "Deployment d: no leader"},
		{reason: "status 17: the first of two fails", ready: true, judges: []error{errors.New("broken"), nil}, called: 1, want: "Deployment d: broken"},
		{reason: "status 17: the second of two fails", ready: true, judges: []error{nil, errors.New("broken")}, called: 2, want: "Deployment d: broken"},
		{reason: "status 17: after a judge that replaces the usual rules", alone: request.Precondition("alone"), judges: []error{nil}, want: "Deployment d: alone"},
		{reason: "status 17: after one that is content", alone: errNo, judges: []error{request.Precondition("no leader")}, called: 1, want: "Deployment d: no leader"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			called := 0
			options := []ObjectOption{AndReadyWhen(nil)}
			for _, err := range row.judges {
				options = append(options, AndReadyWhen(func(context.Context, *unstructured.Unstructured) error { called++; return err }))
			}
			if row.alone != nil {
				options = append(options, ReadyWhen(func(context.Context, *unstructured.Unstructured) error {
					if errors.Is(row.alone, errNo) {
						return nil
					}
					return row.alone
				}))
			}
			r := w.reconciler(adding(func(s *Session) { s.Add("c").Add("", deployment("d"), options...) }))
			_, _, _ = w.once(r)
			if row.ready {
				w.makeReady("d")
			}
			called = 0
			_, _, _ = w.once(r)
			assert.Equal(t, row.called, called)
			if row.want == "" {
				assert.Equal(t, "Stable/Stable", w.verdict())
				return
			}
			assert.Contains(t, w.message(), row.want)
		})
	}
	t.Run("an object that isn't there is no judge's business", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) {
			c := s.Add("c")
			c.Add("", configMap("a"), AndReadyWhen(func(context.Context, *unstructured.Unstructured) error { panic("called") }))
		}))
		d, err := w.describe(r, Describing{})
		require.NoError(t, err)
		defer d.Release()
		require.ErrorContains(t, d.Session().Component("c").Verify(t.Context()), "ConfigMap a: NotFound")
	})
}
