package envtest_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/tools/envtest"
)

// writes has a user write, often enough not to be quiet, until stop is called. That gives the longest time for which it
// may have been quiet all the same: a machine that stalls holds its writes up.
func writes(t *testing.T, env *envtest.Env, user *envtest.User) (stop func() (longest time.Duration)) {
	t.Helper()
	maps := client(t, user.Config).Resource(configMaps).Namespace(env.Namespace)
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var longest time.Duration
	writing.Go(func() {
		last := time.Now() // a write is carried out between its begin and its answer
		for ctx.Err() == nil {
			begun := time.Now()
			_, err := maps.Create(t.Context(), configMap(fmt.Sprintf("written-%d", begun.UnixNano())), metav1.CreateOptions{})
			assert.NoError(t, err)
			longest, last = max(longest, time.Since(last)), begun
			time.Sleep(50 * time.Millisecond)
		}
		longest = max(longest, time.Since(last))
	})
	return sync.OnceValue(func() time.Duration { cancel(); writing.Wait(); return longest })
}

// busily has look happen while a user writes, and judges what was seen; again if the user may have been quiet
// meanwhile.
func busily(t *testing.T, env *envtest.Env, user *envtest.User, look func(stop func()) (judge func())) {
	t.Helper()
	for range 10 {
		stop := writes(t, env, user)
		judge := look(func() { stop() })
		if stop() < envtest.Calm {
			judge()
			return
		}
	}
	require.Fail(t, "the API server takes too long for a write each time")
}

func TestAwaitQuiet(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	busy, idle := env.User(t, "busy", envtest.EverythingInNamespace()), env.User(t, "other", envtest.EverythingInNamespace())
	busily(t, env, busy, func(stop func()) func() {
		env.AwaitQuiet(t)
		env.AwaitQuiet(t, idle) // what others write doesn't matter
		var stopped atomic.Bool
		end := time.AfterFunc(time.Second, func() { stopped.Store(true); stop() })
		env.AwaitQuiet(t, idle, busy)
		waited := stopped.Load()
		end.Stop()
		return func() { assert.True(t, waited, "as long as one of them writes it waits") }
	})
}

func TestNeverQuietFailsTheTest(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	busily(t, env, env.Self, func(func()) func() {
		message := failure(t, func(t testing.TB) { envtest.AwaitQuiet(env, t, time.Second, nil) })
		return func() {
			assert.Contains(t, message, "envtest: not quiet after 1s: the last writes are\ncreate configmaps "+env.Namespace+"/")
		}
	})
}
