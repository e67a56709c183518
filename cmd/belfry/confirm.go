package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sure asks before something that cannot be undone. question says what and how many. Where nobody can answer, --yes
// must have been given.
func (a *app) sure(yes bool, question string) error {
	if yes {
		return nil
	}
	if !a.asks {
		return usage("%s; --yes does it, --dry-run only counts", question)
	}
	fmt.Fprintf(a.errs, "%s. Go on? [y/N] ", clean(question))
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}
