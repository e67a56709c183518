package onaws

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/belfry-dev/belfry/adapters/aws"
)

const (
	settingPrefix   = "BELFRY_"
	databaseSetting = "BELFRY_DATABASE_URL"
)

// readSecrets puts the text of secrets into the environment, in place of the ARNs by which settings name them: a function's
// environment is readable by whoever may look at its configuration. A secret without a value is as if the setting were
// not set.
func readSecrets(ctx context.Context) error {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, settingPrefix) || strings.HasPrefix(name, deployPrefix) || !aws.IsSecretARN(value) {
			continue
		}
		text, err := readSecret(ctx, value)
		if err == nil && name == databaseSetting {
			text, err = aws.DatabaseURL(text)
		}
		switch {
		case err != nil:
		case text == "": // set to nothing it would stop the start
			err = os.Unsetenv(name)
		default:
			err = os.Setenv(name, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func readSecret(ctx context.Context, arn string) (string, error) {
	secret, err := aws.OpenSecret(ctx, arn)
	if err != nil {
		return "", err
	}
	return secret.Read(ctx)
}
