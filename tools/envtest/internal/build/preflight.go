package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	gigabyte = 1 << 30
	// memoryNeeded is the peak memory of compiling and linking on two cores.
	memoryNeeded = 2.5 * gigabyte
	// modulesNeeded is the size of the modules in the module cache, zipped and unpacked.
	modulesNeeded = 1.5 * gigabyte
	// compileNeeded is the size of the compiled packages in the build cache.
	compileNeeded = 4 * gigabyte
	// programNeeded is the size of the old and the new program together.
	programNeeded = 0.5 * gigabyte
	// proxyTimeout is how long the module proxy may take to answer.
	proxyTimeout = 15 * time.Second
)

// PreflightError lists everything that a build needs and this machine lacks.
type PreflightError struct {
	// Missing has one entry for each missing thing: what is needed, what the machine has, and what to do.
	Missing []string
}

// Error returns all entries, one line each.
func (e *PreflightError) Error() string {
	things := "something is"
	if len(e.Missing) > 1 {
		things = fmt.Sprintf("%d things are", len(e.Missing))
	}
	return "devcluster can't be built here, " + things + " missing:\n- " + strings.Join(e.Missing, "\n- ")
}

// settings has the values of `go env -json` that the checks read.
type settings struct {
	GOVERSION, GOTOOLCHAIN, GOPROXY, GOCACHE, GOMODCACHE string
}

// checks collects what is missing.
type checks struct {
	builder Builder
	missing []string
}

func (c *checks) need(format string, args ...any) {
	c.missing = append(c.missing, fmt.Sprintf(format, args...))
}

// preflight checks everything that a build needs. If no module is missing, it returns the packages to compile.
func (b Builder) preflight(ctx context.Context, g gocmd) (packages []string, err error) {
	mod, err := readModFile(b.Source)
	if err != nil {
		return nil, err
	}
	c := &checks{builder: b}
	env := c.toolchain(ctx, g, mod)
	offline, err := b.packages(ctx, g.with("GOPROXY=off"), nil)
	if err == nil {
		packages = offline
	} else if env.GOVERSION != "" {
		c.proxy(ctx, g, env, mod)
	}
	if env.GOVERSION != "" {
		c.disk(env, packages == nil && len(mod.requires) > 0)
	}
	c.memory()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("devcluster build: %w", context.Cause(ctx))
	case len(c.missing) > 0:
		return nil, &PreflightError{Missing: c.missing}
	}
	return packages, nil
}

func (c *checks) toolchain(ctx context.Context, g gocmd, mod modFile) (env settings) {
	out, err := g.output(ctx, "env", "-json", "GOVERSION", "GOTOOLCHAIN", "GOPROXY", "GOCACHE", "GOMODCACHE")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		c.need("Go %s or newer: there is no go command in PATH; install Go", mod.goVersion)
		return settings{}
	case err != nil:
		c.need("Go %s or newer: %v", mod.goVersion, err)
		return settings{}
	}
	if err := json.Unmarshal([]byte(out), &env); err != nil {
		c.need("Go %s or newer: go env printed no JSON: %v", mod.goVersion, err)
		return settings{}
	}
	have, _, _ := strings.Cut(env.GOVERSION, " ") // "go1.26.0 X:experiment"
	if version.IsValid(have) && version.Compare(have, "go"+mod.goVersion) < 0 {
		c.need("Go %s or newer: the go command in PATH is %s; install a newer Go or set GOTOOLCHAIN=auto (now %q)",
			mod.goVersion, have, env.GOTOOLCHAIN)
	}
	return env
}

// proxy asks the module proxy for the versions of one required module. The go command never answers that from a cache.
func (c *checks) proxy(ctx context.Context, g gocmd, env settings, mod modFile) {
	if len(mod.requires) == 0 {
		return
	}
	timed, cancel := context.WithTimeout(ctx, proxyTimeout)
	defer cancel()
	g.dir = c.builder.Cache // outside any module, so that only the proxy is asked
	_, err := g.with("GOFLAGS=-mod=mod").output(timed, "list", "-m", "-versions", mod.probe())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.need("module proxy: GOPROXY=%s doesn't answer within %s, and the module cache %s lacks needed modules; set GOPROXY to a proxy that answers",
			env.GOPROXY, proxyTimeout, env.GOMODCACHE)
	case err != nil:
		c.need("module proxy: GOPROXY=%s doesn't provide %s, and the module cache %s lacks needed modules; set GOPROXY to a proxy that does: %s",
			env.GOPROXY, mod.probe(), env.GOMODCACHE, lastLine(err))
	}
}

// disk adds up the space that is needed on each file system, and compares it with the free space.
func (c *checks) disk(env settings, modules bool) {
	shares := []struct {
		dir, variable string
		bytes         float64
	}{
		{env.GOMODCACHE, "GOMODCACHE", modulesNeeded},
		{env.GOCACHE, "GOCACHE", compileNeeded},
		{c.builder.Cache, "XDG_CACHE_HOME", programNeeded},
	}
	if !modules {
		shares = shares[1:]
	}
	type volume struct {
		free, needed float64
		dirs         []string
	}
	volumes := map[uint64]*volume{}
	var order []*volume
	for _, share := range shares {
		free, id, ok := c.builder.Machine.FreeDisk(existing(share.dir))
		if !ok {
			continue
		}
		if volumes[id] == nil {
			volumes[id] = &volume{free: float64(free)}
			order = append(order, volumes[id])
		}
		volumes[id].needed += share.bytes
		volumes[id].dirs = append(volumes[id].dirs, share.variable+" "+share.dir)
	}
	for _, v := range order {
		if v.free < v.needed {
			c.need("disk: %.1f GB are needed for %s, %.1f GB are free; free some space or point the variable to another disk",
				v.needed/gigabyte, strings.Join(v.dirs, " and "), v.free/gigabyte)
		}
	}
}

func (c *checks) memory() {
	if free, ok := c.builder.Machine.FreeMemory(); ok && float64(free) < memoryNeeded {
		c.need("memory: %.1f GB are needed, %.1f GB are free; end other programs or build on a bigger machine",
			memoryNeeded/gigabyte, float64(free)/gigabyte)
	}
}

// existing returns dir or the nearest parent folder that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}
