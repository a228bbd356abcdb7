package connection_test

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/operkit/operkit/deploy"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a Reader over objects by "Kind name", all in the namespace shop.
type cluster struct {
	objects   map[string]map[string]string
	raw       map[string]any
	err       error
	followed  []string
	followErr error
}

func (c *cluster) Follow(_ context.Context, ref deploy.Ref) error {
	c.followed = append(c.followed, ref.Kind.Kind+" "+ref.Namespace+"/"+ref.Name)
	return c.followErr
}

func (c *cluster) Get(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	content, found := c.objects[ref.Kind.Kind+" "+ref.Name]
	if c.err != nil || !found || ref.Namespace != "shop" {
		return nil, c.err
	}
	data := map[string]any{}
	for key, value := range content {
		if ref.Kind.Kind == "Secret" {
			value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		data[key] = value
	}
	for key, value := range c.raw {
		data[key] = value
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": ref.Kind.Kind, "data": data}}, nil
}

// secret is a cluster with the Secret db.
func secret(content map[string]string) *cluster {
	return &cluster{objects: map[string]map[string]string{"Secret db": content}}
}

const pemOfCA = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
