package program

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// fatal is how a test fails, which it has to.
func fatal(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r.message
}

type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Without the guard the tests would run themselves.
func TestMainIsMissing(t *testing.T) {
	defer prepared.Store(prepared.Swap(false))
	want := "program: the test binary isn't the program yet: call program.Main in TestMain"
	assert.Equal(t, want, fatal(t, func(t testing.TB) { Start(t, Command("-test.run=^$")) }))
	assert.Equal(t, want, fatal(t, func(t testing.TB) { Run(t, Command("-test.run=^$")) }))
	assert.Zero(t, Run(t, exec.Command("true")).Code, "for others it isn't needed")
}

// What the test binary is told to be another binary leaves alone.
func TestVariableOfAnotherBinary(t *testing.T) {
	for _, value := range []string{"", "1", "/somebody/elses.test"} {
		t.Setenv(variable, value)
		Main(func() { os.Exit(1) })
	}
}

func TestDoesNotEnd(t *testing.T) {
	t.Parallel()
	p := Start(t, exec.Command("sh", "-c", "echo waiting; exec sleep 600"))
	for p.Output() == "" {
		time.Sleep(time.Millisecond)
	}
	message := fatal(t, func(t testing.TB) { p.wait(t, 10*time.Millisecond) })
	assert.Equal(t, "program: sh -c echo waiting; exec sleep 600: hasn't ended after 10ms:\nwaiting\n", message)
}
