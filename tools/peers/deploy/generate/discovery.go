package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// devcluster is the folder of the module that requires the API server which tests run, from this folder.
const devcluster = "../../../devcluster"

// shortNames returns the short names of kinds, from the discovery documents in the sources of that API server.
func shortNames() (map[schema.GroupKind][]string, error) {
	download := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes")
	download.Dir = devcluster
	out, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("sources of the API server: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, fmt.Errorf("sources of the API server: %w", err)
	}
	documents, err := filepath.Glob(filepath.Join(module.Dir, "api", "discovery", "*__v*.json"))
	if err == nil && len(documents) == 0 {
		err = fmt.Errorf("sources of the API server: %s has no discovery documents", module.Dir)
	}
	if err != nil {
		return nil, err
	}
	names := map[schema.GroupKind][]string{}
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			return nil, err
		}
		var list metav1.APIResourceList
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", document, err)
		}
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document, err)
		}
		for _, resource := range list.APIResources {
			if len(resource.ShortNames) > 0 {
				names[version.WithKind(resource.Kind).GroupKind()] = resource.ShortNames
			}
		}
	}
	return names, nil
}
