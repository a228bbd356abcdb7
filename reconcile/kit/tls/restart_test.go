package tls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOneRestart(t *testing.T) {
	t.Parallel()
	t.Run("tls 30: a replacement of the CA restarts each program once, and no handshake fails among programs that restart only then", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		server, client := &podProgram{name: "web", secret: secretWeb}, &podProgram{name: "worker", secret: secretWorker}
		server.follow(t, h)
		client.follow(t, h)
		stages := map[string]int{}
		for roll := range int64(3) {
			annotate(h, secretCA, "operkit.dev/renew", strings.Repeat("again ", int(roll)+1))
			for range 30 {
				h.Advance(5 * time.Minute)
				stages[stage(t, h)]++
				server.follow(t, h)
				require.NoError(t, handshake(server.program, client.program, "web", h.Now()), "the server is restarted first")
				client.follow(t, h)
				require.NoError(t, handshake(server.program, client.program, "web", h.Now()))
			}
			require.Equal(t, "Steady", stage(t, h))
			for _, name := range []string{"web", "worker", "probe"} {
				assert.Equal(t, roll+1, restarts(h, name), name)
			}
		}
		assert.Len(t, stages, 3)
		h.RunUntilSettled()
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 32: an ordinary renewal restarts the programs with certificates, and no others", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		h.Advance(300 * day)
		for name, want := range map[string]int64{"web": 1, "worker": 1, "probe": 0} {
			assert.Equal(t, want, restarts(h, name), name)
		}
	})
	t.Run("tls 32: Digest is the annotation of the Secret that podhash reads", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		annotation := "operkit.dev/" + podhash.DigestAnnotation
		assert.Equal(t, h.Get("ConfigMap tea-web").Object["data"].(map[string]any)["digest"], h.Get(secretWeb).GetAnnotations()[annotation])
		assert.NotEmpty(t, h.Get(bundle).GetAnnotations()[annotation])
		assert.NotEqual(t, h.Get(secretWeb).GetAnnotations()[annotation], h.Get(secretWorker).GetAnnotations()[annotation])
		h.Delete(secretCA)
		before := h.Get(bundle).GetAnnotations()[annotation]
		h.RunUntilSettled()
		assert.NotEqual(t, before, h.Get(bundle).GetAnnotations()[annotation], "a new CA")
	})
	t.Run("tls 32: a certificate that was stored by hand stays as it is, and its program is restarted once to know the new CA", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWeb))
		h.RunUntilSettled()
		byHand := dataOf(t, h.Get(secretWeb))["tls.crt"]
		before := restarts(h, "web")
		annotate(h, secretCA, "operkit.dev/renew", "now")
		h.Advance(90 * time.Minute)
		require.Equal(t, "Reissuing", stage(t, h))
		assert.Equal(t, before+1, restarts(h, "web"))
		h.Advance(2 * time.Hour)
		require.Equal(t, "Steady", stage(t, h))
		assert.Equal(t, before+1, restarts(h, "web"))
		assert.Equal(t, byHand, dataOf(t, h.Get(secretWeb))["tls.crt"])
	})
	t.Run("tls 32: a certificate that was stored by hand is renewed with one restart, when the annotation asks for it", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		annotate(h, secretCA, "operkit.dev/renew", "now")
		h.Advance(90 * time.Minute)
		require.Equal(t, "Reissuing", stage(t, h))
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWeb))
		h.RunUntilSettled()
		before := restarts(h, "web")
		annotate(h, secretWeb, "operkit.dev/renew", "now")
		h.RunUntilSettled()
		assert.Equal(t, before+1, restarts(h, "web"))
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
	})
	t.Run("tls 31: with a CA that can't sign the new one, a replacement restarts programs with certificates twice", func(t *testing.T) {
		t.Parallel()
		h, _ := newWorkshop(t)
		setData(t, h, secretCA, caWithoutPath(t, h.Now()))
		h.RunUntilSettled()
		h.Ready("Shop tea")
		before := map[string]int64{"web": restarts(h, "web"), "worker": restarts(h, "worker"), "probe": restarts(h, "probe")}
		server, client := &podProgram{name: "web", secret: secretWeb}, &podProgram{name: "worker", secret: secretWorker}
		annotate(h, secretCA, "operkit.dev/renew", "now")
		for range 30 {
			h.Advance(5 * time.Minute)
			server.follow(t, h)
			client.follow(t, h)
			require.NoError(t, handshake(server.program, client.program, "web", h.Now()))
		}
		require.Equal(t, "Steady", stage(t, h))
		for name, more := range map[string]int64{"web": 2, "worker": 2, "probe": 1} {
			assert.Equal(t, before[name]+more, restarts(h, name), name)
		}
	})
}
