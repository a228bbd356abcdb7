package consumer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// buildFlags is the file in a module's folder with the build settings: lines KEY=value for the environment.
const buildFlags = "build.env"

// download fetches a module that has to be built in its own folder.
func (v *visit) download(ctx context.Context) error {
	if err := os.MkdirAll(v.dir, 0o755); err != nil {
		return err
	}
	out, err := v.run(ctx, v.dir, "mod", "download", "-json", v.Path+v.at())
	if err != nil {
		return err
	}
	var got struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	v.source = got.Dir
	v.env = append(v.env, settings(string(v.Files[buildFlags]))...)
	return v.list(ctx, v.source, "./...")
}

// buildInPlace builds the module and its commands in the module's folder, without writing there.
func (v *visit) buildInPlace(ctx context.Context) error {
	bin := v.dir + "-bin"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if _, err := v.run(ctx, v.source, "build", "./..."); err != nil {
		return err
	}
	commands := v.paths(goPackage.command)
	if len(commands) > 0 {
		if _, err := v.run(ctx, v.source, append([]string{"build", "-o", bin + string(os.PathSeparator)}, commands...)...); err != nil {
			return err
		}
		if err := v.weigh(bin); err != nil {
			return err
		}
	}
	return v.count(ctx, v.source, v.paths(nil))
}

// settings reads the lines KEY=value of a file; a value may be in double quotes.
func settings(text string) []string {
	var env []string
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(key, "#") {
			continue
		}
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			value = strings.TrimSuffix(inner, `"`)
		}
		env = append(env, key+"="+value)
	}
	return env
}
