package status_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status"
)

// server holds one object, and refuses what is outdated.
type server struct {
	object    object
	calls     []string
	meanwhile []func(object) // somebody else's writes, one after each read
	getError  error
	putError  error
}

func (s *server) get(context.Context) (object, error) {
	s.calls = append(s.calls, "get")
	if s.getError != nil {
		return nil, s.getError
	}
	read := runtime.DeepCopyJSON(s.object)
	if len(s.meanwhile) > 0 {
		s.meanwhile[0](s.object)
		s.object["metadata"].(object)["resourceVersion"] = fmt.Sprintf("%d", len(s.calls)+100)
		s.meanwhile = s.meanwhile[1:]
	}
	return read, nil
}

func (s *server) put(_ context.Context, next object) error {
	s.calls = append(s.calls, "write")
	if s.putError != nil {
		return s.putError
	}
	if !reflect.DeepEqual(next["metadata"], s.object["metadata"]) {
		return fmt.Errorf("put: %w", apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "w", errors.New("outdated")))
	}
	s.object = next
	return nil
}

func serverWith(t *testing.T, st string) *server {
	return &server{object: document(t, `{"kind":"Widget","metadata":{"name":"w","resourceVersion":"1"},"status":`+st+`}`)}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	setReady := func(current object) (object, bool, error) {
		next := runtime.DeepCopyJSON(current)
		conditions := status.Conditions(next)
		return next, conditions.Set(now, isReady("True", "B", "")), conditions.Err()
	}
	theirs := func(o object) {
		status.Conditions(o).Set(now, metav1.Condition{Type: "Theirs", Status: "True", Reason: "R"})
	}
	t.Run("status W6: computed anew on a conflict, so that a foreign condition written in between stays", func(t *testing.T) {
		t.Parallel()
		s := serverWith(t, `{}`)
		s.meanwhile = []func(object){theirs, func(object) {}}
		written, err := status.Write(t.Context(), s.get, setReady, s.put)
		require.NoError(t, err)
		assert.Equal(t, []string{"get", "write", "get", "write", "get", "write"}, s.calls)
		assert.True(t, status.Conditions(s.object).IsTrue("Theirs"))
		assert.True(t, status.Conditions(s.object).IsTrue("Ready"))
		assert.Equal(t, s.object, written)
	})
	t.Run("nothing new, no write", func(t *testing.T) {
		t.Parallel()
		s := serverWith(t, `{"conditions":[{"type":"Ready","status":"True","reason":"B","message":"","lastTransitionTime":"`+earlierText+`"}]}`)
		read, err := status.Write(t.Context(), s.get, setReady, s.put)
		require.NoError(t, err)
		assert.Equal(t, []string{"get"}, s.calls)
		assert.Equal(t, s.object, read)
	})
	broken := errors.New("broken")
	for _, c := range []struct {
		reason  string
		server  *server
		compute func(object) (object, bool, error)
		want    error
		calls   int
	}{
		{"a read that fails", &server{getError: broken}, setReady, broken, 1},
		{"a computation that fails", serverWith(t, `{}`), func(object) (object, bool, error) { return nil, true, broken }, broken, 1},
		{"a write that fails otherwise", &server{object: object{}, putError: broken}, setReady, broken, 2},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			_, err := status.Write(t.Context(), c.server.get, c.compute, c.server.put)
			require.ErrorIs(t, err, c.want)
			assert.Len(t, c.server.calls, c.calls)
		})
	}
	t.Run("conflicts without an end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			s := &server{object: object{}, putError: apierrors.NewConflict(schema.GroupResource{}, "w", nil)}
			_, err := status.Write(t.Context(), s.get, setReady, s.put)
			require.Error(t, err)
			assert.True(t, apierrors.IsConflict(err), "%v", err)
			assert.Len(t, s.calls, 20)
			assert.InDelta(t, 2.5, time.Since(begin).Seconds(), 0.9, "between half and all of 3.27 s")
		})
	})
	t.Run("a cache that lags behind gets the time to catch up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin, writes := time.Now(), 0
			get := func(context.Context) (bool, error) { return time.Since(begin) >= 50*time.Millisecond, nil }
			_, err := status.Write(t.Context(), get, func(fresh bool) (bool, bool, error) { return fresh, true, nil },
				func(_ context.Context, fresh bool) error {
					if writes++; !fresh {
						return apierrors.NewConflict(schema.GroupResource{}, "w", nil)
					}
					return nil
				})
			require.NoError(t, err)
			assert.LessOrEqual(t, writes, 6, "each wait is twice the last one")
			assert.GreaterOrEqual(t, writes, 3)
			assert.Less(t, time.Since(begin), 500*time.Millisecond)
		})
	})
	t.Run("the end of the context ends a wait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Millisecond/2)
			defer cancel()
			begin := time.Now()
			s := &server{object: object{}, putError: apierrors.NewConflict(schema.GroupResource{}, "w", nil)}
			_, err := status.Write(ctx, s.get, setReady, s.put)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.True(t, apierrors.IsConflict(err), "%v", err)
			assert.Equal(t, []string{"get", "write"}, s.calls)
			assert.Equal(t, 7*time.Millisecond/2, time.Since(begin))
		})
	})
	t.Run("a conflict with another field manager is no outdated version", func(t *testing.T) {
		t.Parallel()
		held := fmt.Errorf("apply: %w", apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".status.conditions"}}, "Apply failed with 1 conflict"))
		s := &server{object: object{}, putError: held}
		_, err := status.Write(t.Context(), s.get, setReady, s.put)
		require.Equal(t, held, err)
		assert.Equal(t, []string{"get", "write"}, s.calls)
	})
	t.Run("a context that has ended", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := serverWith(t, `{}`)
		_, err := status.Write(ctx, s.get, setReady, s.put)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, s.calls)
	})
}

func TestApplicationWrite(t *testing.T) {
	t.Parallel()
	stable := own(status.ReadyStable, status.UpdatingStable)
	t.Run("status 10: the status is written on a meaningful change only", func(t *testing.T) {
		t.Parallel()
		s := serverWith(t, `{"mine":1}`)
		written, err := stable.Write(t.Context(), now, s.get, s.put)
		require.NoError(t, err)
		assert.Equal(t, s.object["status"], written)
		assert.Equal(t, int64(1), written["mine"])
		assert.Equal(t, []string{"get", "write"}, s.calls)
		again, err := stable.Write(t.Context(), now.AddDate(0, 0, 1), s.get, s.put)
		require.NoError(t, err)
		assert.Equal(t, written, again)
		assert.Equal(t, []string{"get", "write", "get"}, s.calls)
	})
	for _, c := range []struct {
		reason string
		server *server
		warns  string
		calls  []string
	}{
		{"status 10: a read that fails is warned of, nothing is the answer", &server{getError: errors.New("broken")}, "broken", []string{"get"}},
		{"status 10: a write that fails is warned of, nothing is the answer", &server{object: object{"kind": "W"}, putError: errors.New("broken")}, "broken", []string{"get", "write"}},
		{"status 10: no object", &server{}, "no such object", []string{"get"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			var warnings []string
			a := stable
			a.Warn = func(message string) { warnings = append(warnings, message) }
			written, err := a.Write(t.Context(), now, c.server.get, c.server.put)
			require.NoError(t, err)
			assert.Nil(t, written)
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], c.warns)
			assert.Equal(t, c.calls, c.server.calls)
		})
	}
	t.Run("status 15: an unmanaged one calls nobody and changes nothing", func(t *testing.T) {
		t.Parallel()
		a := stable
		a.Unmanaged = true
		s := serverWith(t, `{"mine":1}`)
		written, err := a.Write(t.Context(), now, s.get, s.put)
		require.NoError(t, err)
		assert.Nil(t, written)
		assert.Empty(t, s.calls)
		next, changed, err := a.Update(now, object{"mine": int64(1)})
		require.NoError(t, err)
		assert.False(t, changed)
		assert.Equal(t, object{"mine": int64(1)}, next)
	})
	t.Run("what is invalid is an error before any call", func(t *testing.T) {
		t.Parallel()
		s := serverWith(t, `{}`)
		_, err := own("Nope", "").Write(t.Context(), now, s.get, s.put)
		require.ErrorIs(t, err, status.ErrInvalidReason)
		assert.Empty(t, s.calls)
	})
}
