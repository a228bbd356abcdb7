package tlssecret_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// live runs a process, and reports whether it was killed.
func live(t *testing.T, c deploy.Cluster, do func(s *tlssecret.Source)) (killed bool) {
	t.Helper()
	defer func() {
		if value := recover(); value != nil {
			require.Equal(t, mortal.ErrKilled, value)
			killed = true
		}
	}()
	log := slog.New(slog.NewTextHandler(&testlog.Text{}, nil))
	s, err := tlssecret.New(c, tlssecret.Config{Namespace: "shop", Secret: "hooks-tls", Names: []string{host}, Logger: log})
	require.NoError(t, err)
	require.NoError(t, s.Load(t.Context()))
	do(s)
	return false
}

func TestKilled(t *testing.T) {
	inBubble(t, "serving 22: after a kill at any write, before or after it, the next process serves, and clients accept it", func(t *testing.T) {
		kills := 0
		for _, after := range []bool{false, true} {
			for at, died := 1, true; died; at++ {
				died = killedAt(t, &mortal.Cluster{At: at, After: after}, fmt.Sprintf("write %d, after it: %v", at, after))
				kills++
			}
		}
		assert.GreaterOrEqual(t, kills, 20)
		t.Logf("COUNT kills %d", kills)
	})
}

// killedAt lets each of several processes see something else happen. The one that is killed has a successor.
func killedAt(t *testing.T, c *mortal.Cluster, name string) (died bool) {
	t.Helper()
	memory := newMemory(t)
	var published []byte
	for _, happens := range []func(){
		func() {},
		func() { time.Sleep(250 * day) },
		func() { annotate(t, memory, "renew", "x") },
		func() {
			edit(t, memory, func(_ *unstructured.Unstructured, data map[string]any) { data["tls.key"] = "" })
		},
		func() {
			edit(t, memory, func(_ *unstructured.Unstructured, data map[string]any) { delete(data, "issuer.key") })
		},
		func() { remove(t, memory) },
	} {
		c.Connect(memory)
		if !live(t, c, func(s *tlssecret.Source) {
			published = s.CA()
			happens()
			require.NoError(t, s.Step(t.Context(), false))
			published = s.CA()
		}) {
			continue
		}
		died = true
		absent := read(t, memory) == nil
		c.Connect(memory)
		require.False(t, live(t, c, func(s *tlssecret.Source) {
			require.NoError(t, s.Check(), name)
			r := &replica{Source: s}
			require.NoError(t, accepts(s.CA(), r.chain(t), host, time.Now()), name)
			if published != nil && !absent {
				require.NoError(t, accepts(published, r.chain(t), host, time.Now()), name)
			}
		}))
	}
	return died
}
