package manifest

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

// AddResource adds a file to the resources of a kustomization, after the last file of the same folder that is listed
// there. changed is false if the resources already contain it.
func AddResource(kustomization []byte, file string) (text []byte, changed bool, err error) {
	return addFile(kustomization, "- ", file, func(k filesOf) []string { return k.Resources })
}

// AddPatch adds a file to the patches of a kustomization, after the last file of the same folder that is listed there,
// or at the end if there are no patches yet. changed is false if the patches already contain it.
func AddPatch(kustomization []byte, file string) (text []byte, changed bool, err error) {
	if parsed, err := parse(kustomization); err == nil && parsed.Patches == nil {
		const key = "patches:\n"
		text = append(slices.Clone(kustomization), key+"  - path: "+file+"\n"...)
		if after, err := parse(text); err != nil || !slices.Equal(after.patches(), []string{file}) {
			return nil, false, ErrNoPlace
		}
		return text, true, nil
	}
	return addFile(kustomization, "- path: ", file, filesOf.patches)
}

// addFile adds an item to a list. start is how an item begins, and list returns the files that the list has.
func addFile(kustomization []byte, start, file string, list func(filesOf) []string) (text []byte, changed bool, err error) {
	before, err := parse(kustomization)
	if err != nil {
		return nil, false, ErrNoPlace
	}
	if slices.Contains(list(before), file) {
		return kustomization, false, nil
	}
	lines := regexp.MustCompile(`(?m)^(\s*`+start+`)`+regexp.QuoteMeta(path.Dir(file))+`/.*\n`).FindAllSubmatchIndex(kustomization, -1)
	if len(lines) == 0 {
		return nil, false, ErrNoPlace
	}
	last := lines[len(lines)-1]
	text = inserted(kustomization, last[1], string(kustomization[last[2]:last[3]])+file+"\n")
	after, err := parse(text)
	if err != nil || !slices.Equal(without(list(after), file), list(before)) || len(list(after)) != len(list(before))+1 {
		return nil, false, ErrNoPlace
	}
	return text, true, nil
}

// filesOf are the files that a kustomization lists.
type filesOf struct {
	Resources []string         `json:"resources"`
	Patches   []map[string]any `json:"patches"`
}

// patches returns the file of each patch. A patch with other fields is written out whole: the line of its file isn't
// all of it.
func (k filesOf) patches() (files []string) {
	for _, patch := range k.Patches {
		file, is := patch["path"].(string)
		if !is || len(patch) > 1 {
			file = fmt.Sprint(patch)
		}
		files = append(files, file)
	}
	return files
}

func parse(kustomization []byte) (k filesOf, err error) {
	err = yaml.Unmarshal(kustomization, &k)
	return k, err
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}
