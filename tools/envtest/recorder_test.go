package envtest_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a test that only notes how it was failed.
type recorder struct {
	testing.TB
	message string
	skipped bool
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(...any) { r.skipped = true; runtime.Goexit() }

// fatal runs f as a test of its own, requires that it is failed, not skipped, and gives the message.
func fatal(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	message := failure(t, f)
	require.NotEmpty(t, message, "nothing failed")
	return message
}

// failure runs f as a test of its own, requires that it isn't skipped, and gives the message of what failed it, if
// anything did.
func failure(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	require.False(t, r.skipped, "skipped")
	return r.message
}
