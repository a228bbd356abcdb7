package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Whatever of the control plane is started anew while objects change, in the end all is told, and each kind says once
// that it was away.
func TestRestarts(t *testing.T) {
	t.Parallel()
	rounds, away := 1, 2*time.Second
	if os.Getenv(soakVariable) != "" {
		rounds, away = 5, 10*time.Second
	}
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"))
	kinds := []schema.GroupVersionKind{configMap, service, deployment}
	said := &lines{}
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
	story, writer := newChain("note-"), &author{client: others(t, env, configMap), env: env, prefix: "note-"}
	story.follow(t, c)
	watch(t, c, kinds...)
	for name, restart := range map[string]struct{ stop, start func(t testing.TB) }{
		"API server": {env.StopAPIServer, env.StartAPIServer},
		"etcd":       {env.StopEtcd, env.StartEtcd},
		"both": {func(t testing.TB) { env.StopAPIServer(t); env.StopEtcd(t) },
			func(t testing.TB) { env.StartEtcd(t); env.StartAPIServer(t) }},
	} {
		for round := range rounds {
			t.Run(fmt.Sprintf("%s, %d", name, round), func(t *testing.T) {
				before, told := said.count("msg="), len(story.events())
				ctx, end := context.WithCancel(t.Context())
				defer end()
				var writing sync.WaitGroup
				writing.Go(func() { writer.insist(t, ctx, 10*time.Millisecond) })
				time.Sleep(time.Second)
				restart.stop(t)
				time.Sleep(away)
				restart.start(t)
				back := time.Now()
				time.Sleep(time.Second)
				end()
				writing.Wait()
				story.arrives(t, func() (map[string]string, error) { return writer.there(t.Context()) })
				t.Logf("told %d events, all of them %s after the restart", len(story.events())-told, time.Since(back).Round(time.Millisecond))
				require.Eventually(t, func() bool {
					return said.count("watch failed") == said.count("watching again") && standing(t, c, env, kinds)
				}, 2*patience, 20*time.Millisecond, "%s", said)
				assert.LessOrEqual(t, said.count("msg=")-before, 2*len(kinds), "each kind once, and its end: %s", said)
				story.agrees(t, c.View(), env.Namespace)
			})
		}
	}
	assert.Zero(t, said.count("level=ERROR"), "%s", said)
}

// standing tells whether the watches of kinds stand: what isn't there then needs no request.
func standing(t testing.TB, c *cluster.Cluster, env *envtest.Env, kinds []schema.GroupVersionKind) bool {
	t.Helper()
	mark := env.Mark(t)
	for _, kind := range kinds {
		if _, err := c.View().Get(t.Context(), deploy.Ref{Kind: kind, Namespace: env.Namespace, Name: "never"}); err != nil {
			return false
		}
	}
	return len(env.CallsSince(t, mark).Reads()) == 0
}
