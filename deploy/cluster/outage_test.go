package cluster_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// While its watch is broken a kind's cache may miss objects. What isn't in it is then asked
// of the API server: to take it for absent would be to make it, or a password in it, anew.
func TestOutage(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster())
	var said lines
	c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(&said, nil))))
	require.NoError(t, err)
	watch(t, c, configMap)
	client := others(t, env, configMap)
	missed := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "missed"}

	env.StopAPIServer(t)
	require.Eventually(t, func() bool { return said.count("watch failed") > 0 }, patience, time.Millisecond, "trouble is said")
	_, err = c.View().Get(t.Context(), missed)
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, err, &unavailable, "absent or not, nobody knows now")

	env.StartAPIServer(t)
	_, err = client.Create(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: missed}}"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		live, err := c.View().Get(t.Context(), missed)
		if err != nil {
			return false // its rights come back a moment after the API server
		}
		require.True(t, live != nil || said.count("watching again") > 0, "the watch doesn't show it yet, but it is there")
		return live != nil
	}, patience, time.Millisecond)

	require.Eventually(t, func() bool { return said.count("watching again") == 1 }, 3*patience, 10*time.Millisecond, "the end of the trouble is said")
	assert.Equal(t, 1, said.count("watch failed"), "once: %s", said.String())
	never := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "never"}
	require.Eventually(t, func() bool {
		mark := env.Mark(t)
		live, err := c.View().Get(t.Context(), never)
		return err == nil && live == nil && len(env.CallsSince(t, mark).Reads()) == 0
	}, patience, 100*time.Millisecond, "a watch that stands is believed; it may have to list anew first")
}

// lines is a log for several goroutines.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) count(text string) int { return strings.Count(l.String(), text) }

func TestUnknownFieldsAreRefused(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config)
	m := must(deploy.NewManager(c))
	results, err := m.Apply(t.Context(), []*unstructured.Unstructured{object(t, env.Namespace,
		"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {port: [{port: 80}]}}")})
	var invalid *deploy.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.ErrorContains(t, err, "Service "+env.Namespace+"/web")
	assert.ErrorContains(t, err, "port", "the field is named")
	assert.Equal(t, deploy.Failed, results[0].Action)
}

func TestLiveListSaysWhatItsItemsAre(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config)
	apply(t, must(deploy.NewManager(c)), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"))
	listed, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
	require.NoError(t, err)
	require.NotEmpty(t, listed)
	for _, obj := range listed {
		assert.Equal(t, configMap, obj.GroupVersionKind())
	}
}
