package tlssecret_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// byHand is a certificate with its key that somebody else has made, as PEM.
type byHand struct {
	cert, key []byte
	parsed    *x509.Certificate
	signer    *ecdsa.PrivateKey
}

// elsewhere makes a CA, or a leaf of ca, that is valid for ten days.
func elsewhere(t *testing.T, ca *byHand, names ...string) *byHand {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "elsewhere"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(10 * day),
		BasicConstraintsValid: true, IsCA: ca == nil, MaxPathLenZero: ca == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.parsed, ca.signer
		template.Subject.CommonName = "leaf of elsewhere"
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return &byHand{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), parsed, key,
	}
}

// edits are changes by hand that a running process puts in order with what it has.
var edits = []struct {
	name   string
	change func(t *testing.T, obj *unstructured.Unstructured, data map[string]any)
}{
	{"tls.crt and tls.key of another CA", func(t *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		t.Helper()
		other := elsewhere(t, elsewhere(t, nil), host)
		data["tls.crt"], data["tls.key"] = encode(other.cert), encode(other.key)
	}},
	{"a certificate with its CA, but without the former CA", func(t *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		t.Helper()
		ca := elsewhere(t, nil)
		other := elsewhere(t, ca, host)
		data["tls.crt"], data["tls.key"], data["ca.crt"] = encode(other.cert), encode(other.key), encode(ca.cert)
	}},
	{"a key without a certificate", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) { data["tls.crt"] = "" }},
	{"a certificate without a key", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) { data["tls.key"] = "" }},
	{"half of a certificate", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		text, _ := data["tls.crt"].(string)
		data["tls.crt"] = text[:len(text)/8*4]
	}},
	{"no bundle", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) { delete(data, "ca.crt") }},
	{"a bundle that isn't PEM", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		data["ca.crt"] = encode([]byte("trust me"))
	}},
	{"no CA", func(_ *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		delete(data, "issuer.crt")
		delete(data, "issuer.key")
	}},
	{"a CA with another key", func(t *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		t.Helper()
		data["issuer.key"] = encode(elsewhere(t, nil).key)
	}},
	{"a CA that is none", func(t *testing.T, _ *unstructured.Unstructured, data map[string]any) {
		t.Helper()
		other := elsewhere(t, elsewhere(t, nil), host)
		data["issuer.crt"], data["issuer.key"] = encode(other.cert), encode(other.key)
	}},
	{"all content removed", func(_ *testing.T, obj *unstructured.Unstructured, _ map[string]any) {
		obj.Object["data"] = map[string]any{}
	}},
	{"no annotation", func(_ *testing.T, obj *unstructured.Unstructured, _ map[string]any) { obj.SetAnnotations(nil) }},
	{"a damaged annotation", func(_ *testing.T, obj *unstructured.Unstructured, _ map[string]any) {
		obj.SetAnnotations(map[string]string{"operkit.dev/serving": "{"})
	}},
	{"all of it damaged, as somebody else's certificate", func(t *testing.T, obj *unstructured.Unstructured, _ map[string]any) {
		t.Helper()
		other := elsewhere(t, elsewhere(t, nil), host)
		obj.Object["data"] = map[string]any{"tls.crt": encode(other.cert), "tls.key": encode(other.key)}
		obj.SetAnnotations(nil)
	}},
}

func TestByHand(t *testing.T) {
	for _, row := range edits {
		inBubble(t, "serving 8: what was damaged by hand is put in order with what a process still has: "+row.name, func(t *testing.T) {
			memory := newMemory(t)
			first, second := start(t, memory), start(t, memory)
			time.Sleep(2 * time.Hour)
			serial, bundle := first.serial(t), first.CA()
			edit(t, memory, func(obj *unstructured.Unstructured, data map[string]any) { row.change(t, obj, data) })
			synctest.Wait()
			works(t, first, second)
			assert.Equal(t, serial, first.serial(t))
			assert.Contains(t, string(first.CA()), string(bundle), "clients that trust what was published")
			assert.Positive(t, first.log.Count("level=WARN")+second.log.Count("level=WARN"))
			first.taken()
			second.taken()
			time.Sleep(2 * day)
			synctest.Wait()
			works(t, first, second)
			assert.LessOrEqual(t, len(first.taken())+len(second.taken()), 4)
			third := start(t, memory)
			time.Sleep(day)
			works(t, first, second, third)
		})
		inBubble(t, "serving 9: after a start, what was damaged by hand doesn't keep a process from serving: "+row.name, func(t *testing.T) {
			memory := newMemory(t)
			start(t, memory).stopAfter(t, time.Hour)
			edit(t, memory, func(obj *unstructured.Unstructured, data map[string]any) { row.change(t, obj, data) })
			next := join(t, memory)
			require.NoError(t, next.Load(t.Context()))
			if foreign := read(t, memory).GetAnnotations()["operkit.dev/serving"] == ""; foreign {
				require.ErrorContains(t, next.Check(), "somebody else has stored a certificate in it: delete it, or name another Secret")
				assert.NotEmpty(t, next.chain(t), "it is served")
				return
			}
			works(t, next)
			next.run(t)
			time.Sleep(day)
			works(t, next)
			next.taken()
			time.Sleep(day)
			assert.Empty(t, next.taken())
		})
	}
	inBubble(t, "serving 30: no key is in a log or an error", func(t *testing.T) {
		for _, row := range edits {
			memory := newMemory(t)
			first := start(t, memory)
			time.Sleep(2 * time.Hour)
			secrets := keyLines(t, memory)
			edit(t, memory, func(obj *unstructured.Unstructured, data map[string]any) { row.change(t, obj, data) })
			secrets = append(secrets, keyLines(t, memory)...)
			next := join(t, memory)
			next.refuse["dry update"] = errors.New("refused")
			_ = next.Load(t.Context())
			time.Sleep(time.Hour)
			secrets = append(secrets, keyLines(t, memory)...)
			require.NotEmpty(t, secrets)
			said := fmt.Sprint(first.log.String(), next.log.String(), next.Check())
			for _, line := range secrets {
				assert.NotContains(t, said, line, row.name)
			}
			first.stop()
		}
	})
	inBubble(t, "serving 10: a CA stored by hand is trusted at once, and issues certificates when the time Wait has passed", func(t *testing.T) {
		for _, whole := range []bool{true, false} {
			memory := newMemory(t)
			first, second := start(t, memory), start(t, memory)
			time.Sleep(2 * time.Hour)
			serial, bundle := first.serial(t), first.CA()
			ca := elsewhere(t, nil)
			edit(t, memory, func(_ *unstructured.Unstructured, data map[string]any) {
				data["issuer.crt"], data["issuer.key"] = encode(ca.cert), encode(ca.key)
				if leaf := elsewhere(t, ca, host); whole {
					data["tls.crt"], data["tls.key"], data["ca.crt"] = encode(leaf.cert), encode(leaf.key), encode(ca.cert)
				}
			})
			synctest.Wait()
			works(t, first, second)
			assert.Equal(t, serial, first.serial(t))
			published := first.CA()
			assert.Contains(t, string(published), string(ca.cert))
			assert.Contains(t, string(published), string(bundle))
			time.Sleep(59 * time.Minute)
			assert.Equal(t, serial, first.serial(t))
			time.Sleep(10 * time.Minute)
			works(t, first, second)
			require.NoError(t, accepts(ca.cert, first.chain(t), host, time.Now()))
			require.NoError(t, accepts(published, first.chain(t), host, time.Now()))
			for range 11 * 24 { // it can't sign its successor, which is trusted for an hour before it issues
				before := first.CA()
				time.Sleep(59 * time.Minute)
				synctest.Wait()
				works(t, first, second)
				require.NoError(t, accepts(before, first.chain(t), host, time.Now()))
			}
			assert.NotContains(t, string(first.CA()), string(ca.cert))
			first.stop()
			second.stop()
		}
	})
	inBubble(t, "serving 11: a Secret that was deleted is made again at once, with the same CA if a process still has it", func(t *testing.T) {
		memory := newMemory(t)
		first, second := start(t, memory), start(t, memory)
		synctest.Wait()
		serial, bundle := first.serial(t), first.CA()
		for range 3 {
			remove(t, memory)
			synctest.Wait()
			require.NotNil(t, read(t, memory))
			works(t, first, second)
			assert.Equal(t, serial, first.serial(t))
			assert.Equal(t, bundle, second.CA())
		}
		first.stop()
		second.stop()
		remove(t, memory)
		next := start(t, memory)
		synctest.Wait()
		works(t, next)
		assert.NotEqual(t, bundle, next.CA(), "nobody has it any more")
	})
	inBubble(t, "serving 12: a former state that somebody restores doesn't make a client refuse a process", func(t *testing.T) {
		memory := newMemory(t)
		first, second := start(t, memory), start(t, memory)
		synctest.Wait()
		backup := read(t, memory)
		for n := range 3 {
			time.Sleep(2 * time.Hour)
			annotate(t, memory, "renew", string(rune('a'+n)))
			synctest.Wait()
		}
		published := first.CA()
		edit(t, memory, func(obj *unstructured.Unstructured, _ map[string]any) {
			obj.Object["data"] = backup.Object["data"]
			obj.SetAnnotations(backup.GetAnnotations())
		})
		for range 30 {
			synctest.Wait()
			works(t, first, second)
			require.NoError(t, accepts(published, first.chain(t), host, time.Now()))
			published = first.CA()
			time.Sleep(time.Hour)
		}
	})
	inBubble(t, "serving 13: a Secret of another type, an immutable one, and one of somebody else are never written", func(t *testing.T) {
		other := elsewhere(t, elsewhere(t, nil), host)
		for _, row := range []struct {
			kind      string
			immutable bool
			data      map[string]any
			says      string
			serves    bool
		}{
			{"Opaque", false, map[string]any{"password": encode([]byte("hunter2"))}, "its type is Opaque, not kubernetes.io/tls: delete it, or name another Secret", false},
			{"Opaque", false, map[string]any{"tls.crt": encode(other.cert), "tls.key": encode(other.key)}, "its type is Opaque", true},
			{"kubernetes.io/tls", true, map[string]any{"tls.crt": "", "tls.key": ""}, "it is immutable: delete it", false},
			{"kubernetes.io/tls", false, map[string]any{"tls.crt": encode(other.cert), "tls.key": encode(other.key)}, "somebody else has stored a certificate", true},
			{"kubernetes.io/tls", false, map[string]any{"tls.crt": encode([]byte("hunter2")), "tls.key": ""}, "somebody else has stored a certificate", false},
		} {
			memory := newMemory(t)
			obj := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "type": row.kind, "data": row.data, "metadata": map[string]any{"namespace": "shop", "name": "hooks-tls"},
			}}
			if row.immutable {
				obj.Object["immutable"] = true
			}
			_, err := memory.Port().Create(t.Context(), obj, deploy.CreateOptions{FieldManager: "kubectl"})
			require.NoError(t, err)
			before := read(t, memory)
			r := join(t, memory)
			if err := r.Load(t.Context()); row.serves {
				require.NoError(t, err)
				assert.NotEmpty(t, r.chain(t))
			} else {
				require.ErrorContains(t, err, "Secret shop/hooks-tls: "+row.says)
				assert.Nil(t, r.CA())
				_, err := r.Server().GetCertificate(nil)
				require.ErrorContains(t, err, "serving certificate: there is none yet")
			}
			require.ErrorContains(t, r.Check(), row.says)
			r.run(t)
			time.Sleep(2 * time.Hour)
			assert.Equal(t, before, read(t, memory))
			assert.NotContains(t, r.log.String(), "hunter2")
			assert.Equal(t, 1, r.log.Count("level=WARN"), "once")
			remove(t, memory)
			time.Sleep(10 * time.Minute)
			works(t, r)
			r.stop()
		}
	})
	inBubble(t, "serving 13: an empty Secret of the type kubernetes.io/tls is filled", func(t *testing.T) {
		memory := newMemory(t)
		_, err := memory.Port().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": map[string]any{"tls.crt": "", "tls.key": "", "notes": encode([]byte("kept"))},
			"metadata": map[string]any{"namespace": "shop", "name": "hooks-tls", "labels": map[string]any{"team": "a"}},
		}}, deploy.CreateOptions{FieldManager: "kubectl"})
		require.NoError(t, err)
		r := start(t, memory)
		synctest.Wait()
		works(t, r)
		assert.Equal(t, "a", read(t, memory).GetLabels()["team"], "what others have added stays")
		assert.Contains(t, keysOf(read(t, memory).Object["data"]), "notes")
	})
}

// keyLines returns the lines of all keys in the Secret.
func keyLines(t *testing.T, memory deploy.Cluster) (lines []string) {
	t.Helper()
	data, _ := read(t, memory).Object["data"].(map[string]any)
	for _, key := range []string{"tls.key", "issuer.key"} {
		text, _ := data[key].(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		for line := range strings.Lines(string(decoded)) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-") && line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// stopAfter stops a replica after a time.
func (r *replica) stopAfter(t *testing.T, after time.Duration) {
	t.Helper()
	time.Sleep(after)
	synctest.Wait()
	r.stop()
}

// brief is for tests in which a renewal fails, so that it is tried again and again.
func brief(c *tlssecret.Config) { c.Life.Leaf = 3 * day }

func TestRefused(t *testing.T) {
	forbidden := func(verb string) error {
		return &deploy.ForbiddenError{Verb: verb, Namespace: "shop", Err: errors.New(`User "u" cannot ` + verb + ` resource "secrets"`)}
	}
	inBubble(t, "serving 14: without the right to write, what is there is served, and the error names the right", func(t *testing.T) {
		memory := newMemory(t)
		r := join(t, memory, brief)
		r.refuse["dry create"], r.refuse["create"] = forbidden("create"), forbidden("create")
		require.ErrorContains(t, r.Load(t.Context()), "Secret shop/hooks-tls: can't be created: ")
		require.ErrorContains(t, r.Check(), "not allowed to create")
		other := start(t, memory, brief)
		synctest.Wait()
		r.refuse["dry update"], r.refuse["update"] = forbidden("update"), forbidden("update")
		require.NoError(t, r.Load(t.Context()))
		works(t, r, other)
		other.stop()
		r.run(t)
		time.Sleep(2*day + 6*time.Hour)
		require.ErrorContains(t, r.Check(), "can't be updated: ")
		require.ErrorContains(t, r.Check(), "not allowed to update")
		assert.Equal(t, 1, r.log.Count("not allowed to update"), "once")
		assert.NotEmpty(t, r.chain(t))
		r.taken()
		time.Sleep(6 * time.Hour)
		assert.InDelta(t, 72, len(r.taken()), 3, "it tries each five minutes")
		time.Sleep(day)
		require.ErrorContains(t, r.Check(), "the certificate that is served is valid from")
		r.set(func(w *wire) { w.refuse = map[string]error{} })
		time.Sleep(10 * time.Minute)
		works(t, r)
	})
	inBubble(t, "serving 15: while the API server is away, it is served on; afterwards all is put in order", func(t *testing.T) {
		memory := newMemory(t)
		first, second := start(t, memory, brief), start(t, memory, brief)
		synctest.Wait()
		serial := first.serial(t)
		away := &deploy.UnavailableError{Ref: secret, Err: errors.New("connection refused")}
		for _, r := range []*replica{first, second} {
			r.set(func(w *wire) { w.refuse["*"], w.blind, w.shown = away, true, read(t, memory) })
		}
		first.taken()
		time.Sleep(day)
		require.NoError(t, first.Check(), "nothing is due")
		assert.Empty(t, first.taken())
		time.Sleep(day + 6*time.Hour)
		assert.Equal(t, serial, first.serial(t))
		require.ErrorContains(t, first.Check(), "connection refused")
		assert.Equal(t, 1, first.log.Count("connection refused"))
		for _, r := range []*replica{first, second} {
			r.set(func(w *wire) { w.refuse, w.blind = map[string]error{}, false })
		}
		time.Sleep(10 * time.Minute)
		works(t, first, second)
		assert.NotEqual(t, serial, first.serial(t))
		next := join(t, memory)
		next.refuse["*"] = away
		require.ErrorContains(t, next.Load(t.Context()), "Secret shop/hooks-tls: can't be read: ")
	})
	inBubble(t, "serving 16: without the right to watch, the Secret is read each five minutes, and a warning names the rights", func(t *testing.T) {
		memory := newMemory(t)
		other := start(t, memory)
		synctest.Wait()
		r := join(t, memory)
		r.refuse["watch"] = forbidden("watch")
		r.run(t)
		time.Sleep(2 * time.Hour)
		annotate(t, memory, "renew", "now")
		time.Sleep(6 * time.Minute)
		works(t, r, other)
		assert.Equal(t, 1, r.log.Count(`grant="get, list, watch and update of the Secret hooks-tls, and create of secrets, in namespace shop"`))
		r.set(func(w *wire) { delete(w.refuse, "watch") })
		time.Sleep(10 * time.Minute)
		r.taken()
		time.Sleep(day)
		assert.Empty(t, r.taken())
	})
	inBubble(t, "serving 17: without the namespace, the error names it, and all goes on when it is there", func(t *testing.T) {
		memory, err := dryrun.New()
		require.NoError(t, err)
		r := join(t, memory)
		require.ErrorContains(t, r.Load(t.Context()), "Secret shop/hooks-tls: can't be created: is the namespace shop there?")
		r.run(t)
		time.Sleep(time.Hour)
		_, err = memory.Port().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"},
		}}, deploy.CreateOptions{FieldManager: "kubectl"})
		require.NoError(t, err)
		time.Sleep(5 * time.Minute)
		works(t, r)
	})
	inBubble(t, "serving 18: a program that changes the Secret back again and again doesn't keep a process busy", func(t *testing.T) {
		memory := newMemory(t)
		r := start(t, memory)
		synctest.Wait()
		before := r.serial(t)
		r.taken()
		broken := func(e deploy.Event) {
			data, _ := e.New.Object["data"].(map[string]any)
			if data["tls.crt"] == "" {
				return
			}
			obj := e.New.DeepCopy()
			obj.SetManagedFields(nil)
			_ = unstructured.SetNestedField(obj.Object, "", "data", "tls.crt")
			go func() { _, _ = memory.Port().Update(t.Context(), obj, deploy.UpdateOptions{FieldManager: "other"}) }()
		}
		_, err := memory.View().Subscribe(t.Context(), secret.Kind, broken)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		assert.Less(t, len(r.taken()), 250)
		require.ErrorContains(t, r.Check(), "was changed too often")
		assert.Equal(t, before, r.serial(t))
	})
	inBubble(t, "serving 19: a function Changed that panics is logged", func(t *testing.T) {
		r := start(t, newMemory(t), func(c *tlssecret.Config) { c.Changed = func() { panic("oh") } })
		synctest.Wait()
		works(t, r)
		assert.Equal(t, 1, r.log.Count("the function Changed of a serving certificate panicked"))
	})
}
