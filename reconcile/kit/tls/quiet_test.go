package tls_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const hour = time.Hour

// keys collects what nobody may see: parts of private keys, as they are and in base64.
type keys map[string]bool

// collect adds the keys of the Secrets.
func (k keys) collect(t *testing.T, h *reconciletest.Harness) {
	for _, secret := range []string{secretCA, secretWeb, secretWorker} {
		data := dataOf(t, h.Get(secret))
		for _, key := range []string{"tls.key", "next.key"} {
			if len(data[key]) == 0 {
				continue
			}
			encoded := base64.StdEncoding.EncodeToString(data[key])
			k[encoded[60:100]] = true
			if block, _ := pem.Decode(data[key]); block != nil {
				lines := strings.Split(string(data[key]), "\n")
				k[lines[2][:24]] = true
				// The private number of a key is at the end of what all keys have in common.
				k[fmt.Sprintf("%x", block.Bytes[36:60])] = true
			}
		}
	}
}

func TestNothingSecretIsShown(t *testing.T) {
	t.Parallel()
	t.Run("tls 26: no key is in a log, an event, an error, a status or the bundle", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		events := &recorder{}
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
		h := reconciletest.New(t, shop(), reconciletest.Events(events),
			reconciletest.With(reconcile.Period(24*time.Hour), reconcile.Logger(logger)))
		h.Apply(newTea(nil))
		seen := keys{}
		shown := func() string {
			var all bytes.Buffer
			all.Write(log.Bytes())
			for _, e := range events.events {
				all.WriteString(e.Note)
			}
			for _, run := range h.Runs() {
				fmt.Fprintln(&all, run.Err)
			}
			for _, object := range []string{"Shop tea", bundle, "ConfigMap tea-web"} {
				require.NoError(t, json.NewEncoder(&all).Encode(h.Get(object).Object))
			}
			return all.String()
		}
		h.RunUntilSettled()
		seen.collect(t, h)
		annotate(h, secretCA, "operkit.dev/renew", "now")
		for range 4 {
			h.Advance(hour)
			seen.collect(t, h)
		}
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"names": []any{"more"}} })
		h.RunUntilSettled()
		seen.collect(t, h)
		swapped := pair(t, h, secretWorker)
		setData(t, h, secretWeb, swapped)
		h.RunUntilSettled()
		seen.collect(t, h)
		for _, damage := range []map[string][]byte{
			{"tls.key": swapped["tls.key"]}, {"tls.crt": swapped["tls.key"]}, {"next.key": swapped["tls.key"]}, {"previous.crt": swapped["tls.key"]},
		} {
			whole := pair(t, h, secretCA)
			whole["next.key"], whole["previous.crt"] = nil, nil
			setData(t, h, secretCA, damage)
			h.RunUntilSettled()
			setData(t, h, secretCA, whole)
			h.RunUntilSettled()
		}
		h.Ready("Shop tea")
		require.Greater(t, len(seen), 12)
		require.NotEmpty(t, log.String())
		text := shown()
		for secret := range seen {
			assert.NotContains(t, text, secret)
		}
		assert.NotContains(t, text, "PRIVATE KEY")
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	t.Run("tls 27: a dry run makes no keys", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		rendered := map[string]string{}
		for _, r := range h.Render("Shop tea") {
			text, err := json.Marshal(r.Objects)
			require.NoError(t, err)
			rendered[r.Component] = string(text)
		}
		placeholder := base64.StdEncoding.EncodeToString([]byte(reconcile.GeneratedPlaceholder))
		for _, component := range []string{"tls", "tls-ca"} {
			assert.Contains(t, rendered[component], `"tls.key":"`+placeholder+`"`)
		}
		h.Gone(secretCA, secretWeb)
	})
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	t.Run("tls 28: a resource with a name of 63 characters", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		long := newTea(nil)
		long.SetName(strings.Repeat("t", 63))
		h.Apply(long)
		h.RunUntilSettled()
		h.Ready("Shop " + long.GetName())
		secrets := 0
		for _, object := range h.Objects("Shop " + long.GetName()) {
			if strings.Contains(object, "Secret ") {
				secrets++
				assert.LessOrEqual(t, len(object[strings.LastIndexAny(object, " /")+1:]), 63)
			}
		}
		assert.Equal(t, 3, secrets)
	})
}
