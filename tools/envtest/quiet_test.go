package envtest_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/tools/envtest"
)

// writes has a user write, often enough not to be quiet, until stop is called.
func writes(t *testing.T, env *envtest.Env, user *envtest.User) (stop func()) {
	t.Helper()
	maps := client(t, user.Config).Resource(configMaps).Namespace(env.Namespace)
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			_, err := maps.Create(t.Context(), configMap(fmt.Sprintf("written-%d", n)), metav1.CreateOptions{})
			assert.NoError(t, err)
			time.Sleep(50 * time.Millisecond)
		}
	})
	return func() { cancel(); writing.Wait() }
}

func TestAwaitQuiet(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	busy, idle := env.User(t, "busy", envtest.EverythingInNamespace()), env.User(t, "other", envtest.EverythingInNamespace())
	stop := writes(t, env, busy)
	env.AwaitQuiet(t)
	env.AwaitQuiet(t, idle) // what others write doesn't matter
	var stopped atomic.Bool
	time.AfterFunc(time.Second, func() { stopped.Store(true); stop() })
	env.AwaitQuiet(t, idle, busy)
	assert.True(t, stopped.Load(), "as long as one of them writes it waits")
}

func TestNeverQuietFailsTheTest(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	defer writes(t, env, env.Self)()
	message := fatal(t, func(t testing.TB) { envtest.AwaitQuiet(env, t, time.Second, nil) })
	assert.Contains(t, message, "envtest: not quiet after 1s: the last writes are\ncreate configmaps "+env.Namespace+"/")
}
