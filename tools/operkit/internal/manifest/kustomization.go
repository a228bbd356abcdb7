package manifest

import (
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

// AddResource adds a file to the resources of a kustomization, after the last file of the same folder that is listed
// there. changed is false if the resources already contain it.
func AddResource(kustomization []byte, file string) (text []byte, changed bool, err error) {
	before, err := resources(kustomization)
	if err != nil {
		return nil, false, ErrNoPlace
	}
	if slices.Contains(before, file) {
		return kustomization, false, nil
	}
	lines := regexp.MustCompile(`(?m)^(\s*- )`+regexp.QuoteMeta(path.Dir(file))+`/.*\n`).FindAllSubmatchIndex(kustomization, -1)
	if len(lines) == 0 {
		return nil, false, ErrNoPlace
	}
	last := lines[len(lines)-1]
	text = inserted(kustomization, last[1], string(kustomization[last[2]:last[3]])+file+"\n")
	after, err := resources(text)
	if err != nil || !slices.Equal(without(after, file), before) || len(after) != len(before)+1 {
		return nil, false, ErrNoPlace
	}
	return text, true, nil
}

func resources(kustomization []byte) ([]string, error) {
	var document struct {
		Resources []string `json:"resources"`
	}
	err := yaml.Unmarshal(kustomization, &document)
	return document.Resources, err
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}
