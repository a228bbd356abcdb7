package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// modFile has the parts of a go.mod that the preflight check reads.
type modFile struct {
	goVersion string
	requires  []string // path@version
}

// probe returns the module to request from the proxy: k8s.io/kubernetes, because it is the biggest module. If go.mod
// doesn't require it, probe returns the first requirement.
func (m modFile) probe() string {
	for _, module := range m.requires {
		if strings.HasPrefix(module, kubernetesModule+"@") {
			return module
		}
	}
	return m.requires[0]
}

const kubernetesModule = "k8s.io/kubernetes"

func readModFile(dir string) (modFile, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return modFile{}, fmt.Errorf("devcluster source: %w", err)
	}
	var mod modFile
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == ")":
			block = ""
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
		case block == "" && len(fields) == 2 && fields[0] == "go":
			mod.goVersion = fields[1]
		case block == "" && len(fields) == 3 && fields[0] == "require":
			mod.requires = append(mod.requires, fields[1]+"@"+fields[2])
		case block == "require" && len(fields) == 2:
			mod.requires = append(mod.requires, fields[0]+"@"+fields[1])
		}
	}
	if mod.goVersion == "" {
		return modFile{}, fmt.Errorf("devcluster source: %s has no go line", filepath.Join(dir, "go.mod"))
	}
	return mod, nil
}
