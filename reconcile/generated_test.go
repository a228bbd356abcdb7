package reconcile

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var passwordRef = deploy.Ref{Kind: secretKind, Namespace: "shop", Name: "w-db"}

func secret(content map[string]any) *unstructured.Unstructured {
	content["apiVersion"], content["kind"] = "v1", "Secret"
	content["metadata"] = map[string]any{"name": "w-db", "namespace": "shop"}
	return &unstructured.Unstructured{Object: content}
}

func TestGeneratedOnceAndReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	generated := 0
	newReconciler := func() *Reconciler {
		return w.reconciler(&controller{func(ctx context.Context, s *Session) error {
			value, err := s.Generated(ctx, s.ScopedName("db"), "password", func() (string, error) {
				generated++
				return "open sesame", nil
			})
			if err != nil {
				return err
			}
			s.Add("db", map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": s.ScopedName("db")},
				"stringData": map[string]any{"password": value},
			})
			return nil
		}})
	}
	assert.Equal(t, []string{"apply Secret shop/w-db", writeStatus}, w.calm(newReconciler()))
	stored, _, err := unstructured.NestedString(w.get(passwordRef).Object, "data", "password")
	require.NoError(t, err)
	assert.Equal(t, "b3BlbiBzZXNhbWU=", stored)
	assert.Empty(t, w.calm(newReconciler()), "another process reads it back and has nothing to write")
	assert.Equal(t, 1, generated)
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason     string
		secret     *unstructured.Unstructured
		options    []Option
		unreadable error
		generate   func() (string, error)
		want       string
		err        string
		class      status.ErrorClass
	}{
		{reason: "there is no Secret", want: "new"},
		{reason: "there is one with another key", secret: secret(map[string]any{"data": map[string]any{"user": "eA=="}}), want: "new"},
		{reason: "there is one without data", secret: secret(map[string]any{}), want: "new"},
		{reason: "there is one", secret: secret(map[string]any{"data": map[string]any{"key": "b2xk"}}), want: "old"},
		{reason: "an empty value is a value", secret: secret(map[string]any{"data": map[string]any{"key": ""}}), want: ""},
		{reason: "a dry run has no real one", options: []Option{DryRun()}, want: GeneratedPlaceholder},
		{reason: "a dry run uses what is there", options: []Option{DryRun()}, secret: secret(map[string]any{"data": map[string]any{"key": "b2xk"}}), want: "old"},
		{reason: "a broken value isn't replaced", secret: secret(map[string]any{"data": map[string]any{"key": "%"}}),
			err: "Secret shop/w-db: data.key isn't base64: illegal base64 data at input byte 0", class: status.ErrorConfig},
		{reason: "nor is one of another type", secret: secret(map[string]any{"data": "text"}),
			err: "Secret shop/w-db: data.key can't be read: .data.key accessor error: text is of the type string, expected map[string]interface{}", class: status.ErrorConfig},
		{reason: "the Secret can't be read", unreadable: forbidden("get", "secrets"),
			err: "Secret shop/w-db: " + forbidden("get", "secrets").Error(), class: status.ErrorCluster},
		{reason: "none can be generated", generate: func() (string, error) { return "", errors.New("no entropy") },
			err: "Secret shop/w-db: generate key: no entropy", class: status.ErrorUnknown},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var objects []*unstructured.Unstructured
			if row.secret != nil {
				objects = append(objects, row.secret)
			}
			w := newWorld(t, objects...)
			w.unreadable = func(ref deploy.Ref) error {
				if ref == passwordRef {
					return row.unreadable
				}
				return nil
			}
			generate := row.generate
			if generate == nil {
				generate = func() (string, error) { return "new", nil }
			}
			w.inSetup(func(ctx context.Context, s *Session) {
				value, err := s.Generated(ctx, "w-db", "key", generate)
				if row.err != "" {
					assert.EqualError(t, err, row.err)
					assert.Equal(t, row.class, request.ClassOf(err))
					return
				}
				require.NoError(t, err)
				assert.Equal(t, row.want, value)
			}, row.options...)
		})
	}
}

func TestGeneratedWatchesSecretsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watcher := &ownRecorder{}
	w.inSetup(func(ctx context.Context, s *Session) {
		_, err := s.Generated(ctx, "w-db", "key", func() (string, error) {
			assert.Equal(t, []string{"Widget owns Secret"}, watcher.made(), "before it is looked for")
			return "new", nil
		})
		require.NoError(t, err)
		watcher.fail = errors.New("can't watch")
		_, err = s.Generated(ctx, "w-db", "key", func() (string, error) {
			assert.Fail(t, "a value was generated although it isn't known whether there is one")
			return "", nil
		})
		assert.EqualError(t, err, "can't watch")
	}, WithWatcher(watcher))
}

func TestGeneratedOnceInASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := 0
	generate := func() (string, error) { made++; return "password" + string(rune('0'+made)), nil }
	w.inSetup(func(ctx context.Context, s *Session) {
		for _, want := range []string{"password1", "password1"} {
			got, err := s.Generated(ctx, "redis", "password", generate)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
		other, err := s.Generated(ctx, "redis", "other", generate)
		require.NoError(t, err)
		assert.Equal(t, "password2", other)
	})
}

func TestGeneratedOfOthers(t *testing.T) {
	t.Parallel()
	asking := func(ctx context.Context, s *Session, secret string, of ...string) (string, error) {
		var ask func(secret string, of []string) (string, error)
		ask = func(secret string, of []string) (string, error) {
			return s.Generated(ctx, secret, "key", func() (string, error) {
				if len(of) == 0 {
					return "value", nil
				}
				value, err := ask(of[0], of[1:])
				return secret + " of " + value, err
			})
		}
		return ask(secret, of)
	}
	t.Run("a value may be made of another one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inSetup(func(ctx context.Context, s *Session) {
			value, err := asking(ctx, s, "a", "b", "c")
			require.NoError(t, err)
			assert.Equal(t, "a of b of value", value)
			value, err = asking(ctx, s, "b")
			require.NoError(t, err)
			assert.Equal(t, "b of value", value, "which counts from then on")
		})
	})
	t.Run("but not of itself", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inSetup(func(ctx context.Context, s *Session) {
			var ask func(secret, other string) (string, error)
			ask = func(secret, other string) (string, error) {
				return s.Generated(ctx, secret, "key", func() (string, error) { return ask(other, secret) })
			}
			_, err := ask("a", "b")
			assert.EqualError(t, err, "Secret shop/a: generate key: the function that generates it asks for it, directly or by another value: break the cycle")
			assert.Equal(t, status.ErrorRollout, request.ClassOf(err))
			value, err := asking(ctx, s, "b")
			require.NoError(t, err)
			assert.Equal(t, "value", value, "nobody is at work at it any more")
			var wrapping func() (string, error)
			wrapping = func() (string, error) {
				value, err := s.Generated(ctx, "c", "key", wrapping)
				if err != nil {
					return "", request.Configuration("salt of c: %w", err)
				}
				return value, nil
			}
			_, err = wrapping()
			assert.EqualError(t, err, "salt of c: Secret shop/c: generate key: the function that generates it asks for it, directly or by another value: break the cycle",
				"what each on the way says to it isn't piled up")
		})
	})
	t.Run("of those who ask at the same time nobody waits, and all get the same", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inSetup(func(ctx context.Context, s *Session) {
			var got [2]string
			var all, arrived sync.WaitGroup
			arrived.Add(len(got))
			for i := range got {
				all.Go(func() {
					value, err := s.Generated(ctx, "a", "key", func() (string, error) {
						arrived.Done()
						arrived.Wait()
						return strconv.Itoa(i), nil
					})
					assert.NoError(t, err)
					got[i] = value
				})
			}
			all.Wait()
			assert.Equal(t, got[0], got[1])
		})
	})
}
