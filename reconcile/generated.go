package reconcile

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GeneratedPlaceholder is what Generated returns in a dry run instead of a generated value.
const GeneratedPlaceholder = "(generated when deployed)"

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// Generated returns the value of key in the named Secret. If the Secret has no such value, Generated returns the result
// of generate, which the caller must store in that Secret: so a password is generated once and read from then on. The
// Secret is in the resource's namespace; for a cluster-scoped resource it is in the manager's deploy.DefaultNamespace,
// and it is an error if there is no default namespace. In a dry run the value is GeneratedPlaceholder unless the Secret
// has one. If a value can't be decoded, it isn't replaced, and the error is a request.Configuration error. All calls
// for one value in a session return the same result, even concurrent calls. generate may call Generated for other
// values.
//
// A replica that loses its lease while it stores a value may still replace the value of its successor. If that must not
// happen, deploy the Secret by the strategy deploy.CreateOnly: then the first one stays.
func (s *Session) Generated(ctx context.Context, secret, key string, generate func() (string, error)) (string, error) {
	if s.home == "" {
		return "", mistake(fmt.Errorf("Secret %s: generate %s: a cluster-scoped resource needs a namespace for it: give the manager a default one (deploy.DefaultNamespace)", secret, key))
	}
	if err := s.Own(ctx, secretKind); err != nil {
		return "", err
	}
	ref := deploy.Ref{Kind: secretKind, Namespace: s.home, Name: secret}
	existing, err := s.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ref, err)
	}
	if existing != nil {
		encoded, found, err := unstructured.NestedString(existing.Object, "data", key)
		if err != nil {
			return "", request.Configuration("%s: data.%s can't be read: %w", ref, key, err)
		}
		if found {
			value, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return "", request.Configuration("%s: data.%s isn't base64: %w", ref, key, err)
			}
			return string(value), nil
		}
	}
	if s.dryRun {
		return GeneratedPlaceholder, nil
	}
	return s.generated.once(ref, key, generate)
}

// generated holds the generated values of a session.
type generated struct {
	mu     sync.Mutex
	values map[generatedKey]string
	// underWay counts the calls that generate a value.
	underWay map[generatedKey]int
}

// generatedKey names a value: the Secret, and the key in it.
type generatedKey struct{ secret, key string }

// mostAtWork bounds the concurrent calls for one value. No resource deploys so many components concurrently, so more
// calls mean that generate calls Generated for its own value.
const mostAtWork = 1_000

// circularError means that generate calls Generated for its own value.
type circularError struct {
	secret deploy.Ref
	key    string
}

func (e *circularError) Error() string {
	return fmt.Sprintf("%s: generate %s: the function that generates it asks for it, directly or by another value: break the cycle", e.secret, e.key)
}

// once returns the value of a key, and calls generate if it isn't known yet. It doesn't hold the lock while generate
// runs, because generate may call Generated for other values. Of concurrent calls the first value counts.
func (g *generated) once(secret deploy.Ref, key string, generate func() (string, error)) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := generatedKey{secret.Name, key}
	if value, known := g.values[at]; known {
		return value, nil
	}
	if g.underWay[at] == mostAtWork {
		return "", mistake(&circularError{secret, key})
	}
	if g.values == nil {
		g.values, g.underWay = map[generatedKey]string{}, map[generatedKey]int{}
	}
	g.underWay[at]++
	defer func() { g.underWay[at]-- }()
	value, err := g.unlocked(generate)
	if circular, ok := errors.AsType[*circularError](err); ok {
		return "", mistake(circular) // not wrapped by each generate of the cycle
	}
	if err != nil {
		return "", fmt.Errorf("%s: generate %s: %w", secret, key, err)
	}
	if _, known := g.values[at]; !known { // the first of concurrent calls wins
		g.values[at] = value
	}
	return g.values[at], nil
}

// unlocked calls generate without the lock.
func (g *generated) unlocked(generate func() (string, error)) (string, error) {
	g.mu.Unlock()
	defer g.mu.Lock()
	return generate()
}
