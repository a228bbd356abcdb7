package importgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
)

// listed is a package as go list -json prints it.
type listed struct {
	Package
	ImportPath string
	ForTest    string
	Error      *struct{ Err string }
}

// Load reads the packages that patterns name and all they depend on, their tests included; dir and env are those of the
// go command. problems are those of packages that cannot be loaded.
func Load(ctx context.Context, dir string, env []string, patterns ...string) (g Graph, problems []string, err error) {
	args := append([]string{
		"list", "-mod=readonly", "-e", "-deps", "-test",
		"-json=ImportPath,Name,GoFiles,Imports,TestImports,XTestImports,Standard,DepOnly,ForTest,Error,Module",
	}, patterns...)
	out, err := process.Output(ctx, process.Command(ctx, dir, env, "go", args...))
	if err != nil {
		return nil, nil, err
	}
	g = Graph{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return g, problems, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		if p.ForTest != "" || p.Name == "main" && strings.HasSuffix(p.ImportPath, ".test") {
			continue // a package as it is compiled for a test; its imports are those of the package and of its tests
		}
		g[p.ImportPath] = p.Package
		if p.Error != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", p.ImportPath, p.Error.Err))
		}
	}
}
