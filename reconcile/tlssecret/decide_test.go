package tlssecret

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/stretchr/testify/require"
)

// parts are the parts of a Secret, in the order of the arguments of FuzzDecide.
var parts = []string{pki.KeyCert, pki.KeyKey, pki.KeyBundle, keyIssuerCert, keyIssuerKey, keyCross}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func wished(tb testing.TB, name string) wish {
	tb.Helper()
	names, err := pki.ParseNames([]string{name})
	require.NoError(tb, err)
	return wish{name: "hooks-tls", names: names, life: Life{CA: 10 * year, Leaf: year, Wait: time.Hour}}
}

// states are three states, each after a replacement of the CA, and one of another Secret.
func states(tb testing.TB) (all []*state) {
	tb.Helper()
	var before *state
	for n := range 4 {
		if n == 3 {
			before = nil
		}
		p, err := wished(tb, "hooks.shop.svc").decide(began.Add(time.Duration(n)*2*time.Hour), before, before, n > 0)
		require.NoError(tb, err)
		before = &p.state
		all = append(all, before)
	}
	return all
}

// inOrder decides twice: clients accept what comes out, and the second time nothing is left to do.
func inOrder(tb testing.TB, w wish, at time.Time, data map[string][]byte, annotation string, memory *state) {
	tb.Helper()
	first, err := w.decide(at, parse(data, annotation), memory, false)
	require.NoError(tb, err)
	require.True(tb, first.state.verifies(first.state.leaf, at), "%v", first.reasons)
	for _, r := range first.reasons {
		for _, key := range [][]byte{data[pki.KeyKey], data[keyIssuerKey]} {
			for line := range bytes.Lines(key) {
				if len(line) > 20 {
					require.NotContains(tb, r.text, string(bytes.TrimSpace(line)))
				}
			}
		}
	}
	stored := parse(first.state.data(), first.state.annotation())
	for _, remembered := range []*state{&first.state, nil} {
		second, err := w.decide(at, stored, remembered, false)
		require.NoError(tb, err)
		require.Empty(tb, second.reasons, "after %v", first.reasons)
		require.True(tb, second.until.After(at))
	}
}

func TestDecide(t *testing.T) {
	t.Run("serving 29: whatever parts a Secret has, clients accept the certificate that is decided on, and nothing is left to do", func(t *testing.T) {
		all, random := states(t), rand.New(rand.NewPCG(1, 2))
		for n := range 1500 {
			pick := func() *state { return all[random.IntN(len(all))] }
			base := pick()
			data, annotation, memory := base.data(), base.annotation(), pick()
			for _, part := range parts {
				switch random.IntN(8) {
				case 0:
					data[part] = pick().data()[part]
				case 1:
					delete(data, part)
				case 2:
					data[part] = data[part][:len(data[part])/2]
				case 3:
					data[part] = []byte(fmt.Sprintf("%s\n%s", pick().data()[part], data[part]))
				}
			}
			switch random.IntN(6) {
			case 0:
				annotation = ""
			case 1:
				annotation = pick().annotation()
			case 2:
				memory = nil
			}
			at := began.Add(6*time.Hour + time.Duration(random.IntN(3))*time.Duration(random.IntN(80000))*time.Hour)
			inOrder(t, wished(t, []string{"hooks.shop.svc", "new.shop.svc"}[n%2]), at, data, annotation, memory)
		}
	})
}

func FuzzDecide(f *testing.F) {
	all := states(f)
	for n, s := range all {
		data := s.data()
		f.Add(data[parts[0]], data[parts[1]], data[parts[2]], data[parts[3]], data[parts[4]], data[parts[5]], s.annotation(), uint32(n), true)
	}
	f.Add([]byte("-----BEGIN"), []byte(nil), []byte("x"), []byte(nil), []byte{0}, []byte{0}, "{}", uint32(70000), false)
	f.Fuzz(func(t *testing.T, crt, key, bundle, issuer, issuerKey, cross []byte, annotation string, hours uint32, remembers bool) {
		data := map[string][]byte{}
		for i, part := range [][]byte{crt, key, bundle, issuer, issuerKey, cross} {
			data[parts[i]] = part
		}
		var memory *state
		if remembers {
			memory = all[1]
		}
		inOrder(t, wished(t, "hooks.shop.svc"), began.Add(time.Duration(hours%200000)*time.Hour), data, annotation, memory)
	})
}
