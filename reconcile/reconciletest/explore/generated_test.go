package explore

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// connecting makes a password once, and a connection string of it and of the size. Without fault it keeps the password.
func connecting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	key, err := m.get(ctx, "Secret", "key", resource)
	if err != nil {
		return err
	}
	password := rand.Text()
	if key == nil {
		text := "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: %s, url: 'shop:%s@host/%d'}}"
		return m.create(ctx, resource, text, password, password, sizeOf(resource))
	}
	data, _, _ := unstructured.NestedStringMap(key.Object, "data")
	present := decoded(data["url"])
	if strings.HasSuffix(present, fmt.Sprintf("/%d", sizeOf(resource))) {
		return nil
	}
	if m.sound {
		password = decoded(data["password"])
	}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	url := fmt.Sprintf("shop:%s@host/%d", password, sizeOf(resource))
	return m.patch(ctx, key, "", fmt.Sprintf(`{"data":{"password":%q,"url":%q}}`, encode(password), encode(url)))
}

func TestGeneratedValues(t *testing.T) {
	t.Run("explore 7: a value that contains a generated one may change", func(t *testing.T) {
		r := byHand(connecting, "Secret").explore(t, true, Replay("Shop.explore.operkit.dev tea with spec.size: 2"))
		assert.Empty(t, r.findings, stories(r))
	})
	t.Run("explore 7: the generated one may not", func(t *testing.T) {
		r := byHand(connecting, "Secret").explore(t, false, Replay("Shop.explore.operkit.dev tea with spec.size: 2"))
		assert.Contains(t, stories(r), "a generated value changes")
	})
}

func TestGeneratedNames(t *testing.T) {
	till := func(name, shard string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, generateName: till-, namespace: test, labels: {shard: '%s'}}}", name, shard)}
	}
	t.Run("explore 7: objects with generated names are numbered by their contents, not by their age", func(t *testing.T) {
		first := stateOf([]*unstructured.Unstructured{till("till-a", "1"), till("till-b", "2")})
		assert.Empty(t, compare(first, stateOf([]*unstructured.Unstructured{till("till-c", "2"), till("till-d", "1")})))
		assert.Len(t, compare(first, stateOf([]*unstructured.Unstructured{till("till-a", "1"), till("till-b", "1")})), 1)
	})
	t.Run("explore 7: an object whose name is like a number of theirs stays", func(t *testing.T) {
		named := till("till-1", "3")
		named.SetGenerateName("")
		s := stateOf([]*unstructured.Unstructured{till("till-a", "1"), named, till("till-b", "2")})
		assert.Len(t, s, 3)
		assert.Equal(t, "3", s["ConfigMap test/till-1"]["metadata"].(map[string]any)["labels"].(map[string]any)["shard"])
	})
}
