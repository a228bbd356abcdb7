package explore

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaking is the environment variable of a process whose tests leave goroutines.
const leaking = "OPERKIT_EXPLORE_LEAKING"

// waitingFor waits in one of the reconciles: with a size of 3.
func waitingFor(wait func()) reconciling {
	return then(careful, func(_ context.Context, _ *manual, resource *unstructured.Unstructured) error {
		if sizeOf(resource) == 3 {
			wait()
		}
		return nil
	})
}

func lockTwice() {
	var mu sync.Mutex
	mu.Lock()
	mu.Lock()
}

// The goroutines of these tests never end, so they run in a process of their own.
func TestForever(t *testing.T) {
	if os.Getenv(leaking) != "" {
		leak(t)
		return
	}
	test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestForever$", "-test.v")
	test.Env = append(os.Environ(), leaking+"=yes")
	out, err := test.CombinedOutput()
	t.Run("explore 51: what waits forever doesn't end the tests", func(t *testing.T) {
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: TestForever/explore_51:_a_mutex_is_locked_twice")
	})
}

// leak explores operators that wait forever.
func leak(t *testing.T) {
	t.Helper()
	patience := func(o *options) { o.patience = 5 * time.Second }
	t.Run("explore 51: nobody sends to a channel", func(t *testing.T) {
		r := explored(t, manually(waitingFor(func() { <-make(chan int) })), startDriven, States(300), patience)
		require.NotEmpty(t, r.findings)
		assert.Equal(t, neverEnds, r.findings[0].problem)
		assert.Contains(t, r.findings[0].story(), "test/tea: its context has ended, and it still waits\n  => at bubble_test.go:")
		assert.Contains(t, r.findings[0].story(), "(chan receive)")
		assert.Contains(t, r.findings[0].story(), "with spec.size: 3")
		assert.Greater(t, r.disturbed, 10, "it goes on")
		assert.Len(t, r.findings, 1, stories(r))
	})
	t.Run("explore 51: a mutex is locked twice", func(t *testing.T) {
		r := explored(t, manually(waitingFor(lockTwice)), startDriven, States(300), patience)
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), neverEnds)
		assert.Contains(t, r.findings[0].story(), "(sync.Mutex.Lock)")
		assert.Contains(t, r.summary(), "left out by "+neverEnds)
	})
	t.Run("explore 51: a goroutine never ends", func(t *testing.T) {
		r := explored(t, manually(waitingFor(func() { go lonely() })), startDriven, States(300))
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), "a goroutine of the operator waits forever")
		assert.Contains(t, r.findings[0].story(), "at bubble_test.go:")
	})
}

func lonely() { <-make(chan int) }
