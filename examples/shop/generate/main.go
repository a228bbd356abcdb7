// Command generate adds the rules of both versions, and how the API server converts, to the definition of shops, which
// controller-gen has written before.
package main

import (
	"fmt"
	"os"

	v1 "github.com/operkit/operkit/examples/shop/api/v1"
	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// header is the first line of the file, as controller-gen writes it.
const header = "---\n"

func main() {
	if err := generate("config/crd/examples.operkit.dev_shops.yaml"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// conversion makes the API server refuse requests that need a conversion until the operator has started: it then
// completes this. Without a conversion the API server would drop the fields that the other version doesn't have.
var conversion = map[string]any{
	"strategy": "Webhook",
	"webhook": map[string]any{
		"clientConfig": map[string]any{
			"service": map[string]any{"namespace": "shop-system", "name": "shop-operator"},
		},
		"conversionReviewVersions": []any{"v1"},
	},
}

// generate completes the definition in a file.
func generate(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &definition.Object); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if definition, err = v1.Rules.AddTo(definition, v1.ShopKind.Version); err != nil {
		return err
	}
	if definition, err = v2.Rules.AddTo(definition, v2.ShopKind.Version); err != nil {
		return err
	}
	if err := unstructured.SetNestedMap(definition.Object, conversion, "spec", "conversion"); err != nil {
		return err
	}
	text, err = yaml.Marshal(definition.Object)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(header), text...), 0o644)
}
