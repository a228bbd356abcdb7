package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
)

// program is a minimal C program. Like cgo it needs a compiler, a linker and the headers of the C library.
const program = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"

// RaceDetector reports whether tests can run under the race detector, which needs cgo and a C compiler that works. If
// they can't, reason says why. env is the environment as os.Environ returns it.
func RaceDetector(ctx context.Context, env []string) (ok bool, reason string, err error) {
	out, err := process.Output(ctx, process.Command(ctx, "", env, "go", "env", "-json", "CGO_ENABLED", "CC"))
	if err != nil {
		return false, "", err
	}
	var settings struct{ CGO_ENABLED, CC string }
	if err := json.Unmarshal(out, &settings); err != nil {
		return false, "", fmt.Errorf("go env: %w", err)
	}
	compiler := strings.Fields(settings.CC)
	if len(compiler) == 0 {
		return false, "no C compiler is configured", nil
	}
	problem := tryCompiler(ctx, env, compiler)
	switch {
	case problem == nil && settings.CGO_ENABLED == "0":
		return false, "CGO_ENABLED is 0", nil
	case problem != nil:
		return false, fmt.Sprintf("the C compiler %s does not work; install gcc and the headers of the C library", compiler[0]), nil //nolint:nilerr // it is the reason
	}
	return true, "", nil
}

func tryCompiler(ctx context.Context, env, compiler []string) error {
	cmd := process.Command(ctx, "", env, compiler[0], append(compiler[1:len(compiler):len(compiler)], "-o", os.DevNull, "-x", "c", "-")...)
	cmd.Stdin = strings.NewReader(program)
	return process.Run(ctx, cmd)
}
