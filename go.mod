module github.com/belfry-dev/belfry

go 1.25.0
