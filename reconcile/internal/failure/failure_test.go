package failure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/stretchr/testify/assert"
)

func TestIs(t *testing.T) {
	t.Parallel()
	wrapped := errors.Join(errors.New("one"), fmt.Errorf("two: %w", &fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist}))
	assert.True(t, failure.Is[*fs.PathError](wrapped))
	assert.False(t, failure.Is[*dag.PanicError](wrapped))
	assert.False(t, failure.Is[*fs.PathError](nil))
}

func TestGuard(t *testing.T) {
	t.Parallel()
	assert.NoError(t, failure.Guard(func() error { return nil }))
	assert.Equal(t, fs.ErrExist, failure.Guard(func() error { return fs.ErrExist }), "an error is returned as it is")
	err := failure.Guard(func() error { panic("odd") })
	panicked, ok := errors.AsType[*dag.PanicError](err)
	assert.True(t, ok)
	assert.Equal(t, "odd", panicked.Value)
	assert.Contains(t, string(panicked.Stack), "failure_test.go")
}

func TestValue(t *testing.T) {
	t.Parallel()
	value, err := failure.Value(func() (int, error) { return 1, fs.ErrExist })
	assert.Equal(t, []any{1, fs.ErrExist}, []any{value, err})
	value, err = failure.Value(func() (int, error) { panic(fs.ErrExist) })
	assert.Zero(t, value)
	assert.ErrorIs(t, err, fs.ErrExist)
}
