package reconcile

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GeneratedPlaceholder stands for a generated value in a dry run.
const GeneratedPlaceholder = "(generated when deployed)"

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// Generated returns the value that the Secret of that name, beside the resource, holds
// under key. When there is none it asks generate for one, which the caller puts into that
// Secret: so a password is made once and read back ever after. In a dry run without that
// Secret it is GeneratedPlaceholder. A value that can't be decoded is an error of the kind
// that Configuration makes; it is not replaced.
func (s *Session) Generated(ctx context.Context, secret, key string, generate func() (string, error)) (string, error) {
	if err := s.Own(ctx, secretKind); err != nil {
		return "", err
	}
	ref := deploy.Ref{Kind: secretKind, Namespace: s.Namespace(), Name: secret}
	existing, err := s.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ref, err)
	}
	if existing != nil {
		encoded, found, err := unstructured.NestedString(existing.Object, "data", key)
		if err != nil {
			return "", Configuration("%s: data.%s can't be read: %w", ref, key, err)
		}
		if found {
			value, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return "", Configuration("%s: data.%s isn't base64: %w", ref, key, err)
			}
			return string(value), nil
		}
	}
	if s.dryRun {
		return GeneratedPlaceholder, nil
	}
	return s.generated.once(ref.Name, key, func() (string, error) {
		value, err := generate()
		if err != nil {
			return "", fmt.Errorf("%s: generate %s: %w", ref, key, err)
		}
		return value, nil
	})
}

// generated are the values that a session has had generated: whoever asks again, or from another component,
// gets the same.
type generated struct {
	mu     sync.Mutex
	values map[[2]string]string
}

func (g *generated) once(secret, key string, generate func() (string, error)) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if value, ok := g.values[[2]string{secret, key}]; ok {
		return value, nil
	}
	value, err := generate()
	if err != nil {
		return "", err
	}
	if g.values == nil {
		g.values = map[[2]string]string{}
	}
	g.values[[2]string{secret, key}] = value
	return value, nil
}
